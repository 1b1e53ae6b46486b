#include "agent/supervisor/mpi/tree_input.h"

#include <utility>

#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kFullPause{2};
// Before a piece: there is more to come, or it was the end.
constexpr char kMore = 'm';
constexpr char kEnd = 'e';

}  // namespace

absl::StatusOr<std::unique_ptr<TreeInput>> TreeInput::Start(EventLoop& loop,
                                                            ClosingSockets& closing,
                                                            const Logger& log,
                                                            TreeInputConfig config, PmixNews news) {
  std::unique_ptr<TreeInput> made(new TreeInput(loop, std::move(config), std::move(news)));
  if (made->config_.shape.nodes.size() > 1) {
    ExchangeConfig exchange;
    exchange.self.secret = made->config_.secret;
    exchange.self.step = made->config_.name;
    exchange.self.position = made->config_.shape.position;
    exchange.nodes = made->config_.shape.nodes;
    exchange.one_machine = made->config_.one_machine;
    exchange.traffic = made->config_.traffic;
    ExchangeHandlers handlers;
    handlers.on_broken = made->news_.on_broken;
    handlers.on_asked = [](std::uint32_t, std::uint64_t, std::uint32_t) {};
    ASSIGN_OR_RETURN(made->exchange_,
                     Exchange::Open(loop, closing, log, std::move(exchange), std::move(handlers)));
  }
  return made;
}

void TreeInput::BeginInput(InputHandlers handlers) {
  handlers_ = std::move(handlers);
  if (exchange_ != nullptr) {
    news_.on_joined();  // the nodes need one another
  }
  Next();
}

void TreeInput::Input(const std::string& data) {
  if (!IsFirst() || ended_) {
    return;
  }
  ended_ = data.empty();
  queued_ += data;
  if (queued_.size() >= kQueuedBytesMax && !std::exchange(paused_, true)) {
    handlers_.pause(true);
  }
  Next();
}

// Enters the next piece's collective, once there is room for the piece here and, at the first node,
// a piece.
void TreeInput::Next() {
  if (under_way_ || over_ || (IsFirst() && queued_.empty() && !ended_)) {
    return;
  }
  if (handlers_.full()) {
    loop_.RunAfter(kFullPause, [this, alive = std::weak_ptr<const bool>(alive_)] {
      if (!alive.expired()) {
        Next();
      }
    });
    return;
  }
  under_way_ = true;
  std::string piece;
  if (IsFirst()) {
    piece = queued_.substr(0, kPieceBytes);
    queued_.erase(0, piece.size());
    piece.insert(piece.begin(), queued_.empty() && ended_ ? kEnd : kMore);
  }
  if (exchange_ == nullptr) {
    Came(piece);
    return;
  }
  std::vector<std::uint32_t> all(config_.shape.nodes.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  exchange_->Fence("input", std::move(all), std::move(piece),
                   [this](const std::string& whole) { Came(whole); });
}

void TreeInput::Came(const std::string& piece) {
  under_way_ = false;
  over_ = piece.empty() || piece.front() == kEnd;
  if (piece.size() > 1) {
    handlers_.give(piece.substr(1));
  }
  if (over_) {
    handlers_.give("");
  }
  if (paused_ && queued_.size() < kQueuedBytesMax / 2) {
    paused_ = false;
    handlers_.pause(false);
  }
  // From the loop: a collective that ends at once would otherwise nest in this one.
  loop_.Post([this, alive = std::weak_ptr<const bool>(alive_)] {
    if (!alive.expired()) {
      Next();
    }
  });
}

std::vector<std::string> TreeInput::Addresses() const {
  return exchange_ == nullptr ? std::vector<std::string>() : exchange_->addresses();
}

void TreeInput::Meet(const std::vector<StepPeerAddress>& peers) {
  if (exchange_ != nullptr) {
    exchange_->Meet(ByPosition(config_.shape, peers));
  }
}

void TreeInput::Break(const StepBreak& why) {
  if (exchange_ != nullptr) {
    exchange_->Break(why);
  }
}

void TreeInput::Leave(bool told) {
  if (exchange_ != nullptr) {
    exchange_->Leave(told);
  }
}

}  // namespace muster::agent
