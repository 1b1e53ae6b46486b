#include "agent/supervisor/mpi/pmi_step.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr int kLastReads = 256;

// "(vector,(FIRST_NODE,NODES,RANKS_EACH),…)", which MPICH reads to know who shares a node.
std::string MappingOf(const StepShape& shape) {
  std::string mapping = "(vector";
  const std::vector<std::uint32_t>& nodes = shape.node_of_rank;
  for (std::size_t i = 0; i < nodes.size();) {
    std::size_t end = i;
    while (end < nodes.size() && nodes[end] == nodes[i]) {
      ++end;
    }
    absl::StrAppend(&mapping, ",(", nodes[i], ",1,", end - i, ")");
    i = end;
  }
  return mapping + ")";
}

}  // namespace

absl::StatusOr<std::unique_ptr<PmiStep>> PmiStep::Start(EventLoop& loop, ClosingSockets& closing,
                                                        const Logger& log, PmiStepConfig config,
                                                        PmixNews news) {
  std::unique_ptr<PmiStep> made(new PmiStep(loop, log, std::move(config), std::move(news)));
  PmiStep* self = made.get();
  // A mapping that is too long for a value is left out: MPICH then asks the hosts' names.
  self->store_.Put("PMI_process_mapping", MappingOf(self->config_.shape)).IgnoreError();
  self->store_.TakeFresh();
  for (const std::uint32_t rank : self->config_.ranks) {
    RETURN_IF_ERROR(self->OpenChannel(rank));
  }
  if (self->config_.shape.nodes.size() > 1) {
    ExchangeConfig exchange;
    exchange.self.secret = self->config_.secret;
    exchange.self.step = self->config_.name;
    exchange.self.position = self->config_.shape.position;
    exchange.nodes = self->config_.shape.nodes;
    exchange.one_machine = self->config_.one_machine;
    ExchangeHandlers handlers;
    handlers.on_broken = self->news_.on_broken;
    handlers.on_asked = [self](std::uint32_t asker, std::uint64_t id, std::uint32_t) {
      self->exchange_->AnswerModex(asker, id, std::nullopt);
    };
    ASSIGN_OR_RETURN(self->exchange_,
                     Exchange::Open(loop, closing, log, std::move(exchange), std::move(handlers)));
  }
  return made;
}

PmiStep::~PmiStep() {
  for (const auto& [rank, channel] : channels_) {
    loop_.Unwatch(channel.ours.get());
  }
}

absl::Status PmiStep::OpenChannel(std::uint32_t rank) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a socket for PMI");
  }
  Channel& channel = channels_[rank];
  channel.ours.reset(ends[0]);
  channel.theirs.reset(ends[1]);
  PmiHandlers handlers;
  handlers.on_join = [this, rank] {
    joined_.insert(rank);
    ever_.insert(rank);
    news_.on_joined();
  };
  handlers.on_leave = [this, rank] { joined_.erase(rank); };
  handlers.on_barrier = [this, rank] { EnterBarrier(rank); };
  handlers.on_abort = [this, rank](int code) { news_.on_abort(rank, code, "PMI abort"); };
  channel.session = std::make_unique<PmiSession>(
      config_.name, static_cast<std::uint32_t>(config_.shape.node_of_rank.size()), store_,
      std::move(handlers));
  return loop_.Watch(channel.ours.get(), EPOLLIN,
                     [this, rank](std::uint32_t) { (void)Read(rank); });
}

absl::StatusOr<std::vector<std::string>> PmiStep::RankEnv(std::uint32_t rank) const {
  const auto own = std::find(config_.ranks.begin(), config_.ranks.end(), rank);
  return std::vector<std::string>{
      "PMI_FD=3",
      absl::StrCat("PMI_RANK=", rank),
      absl::StrCat("PMI_SIZE=", config_.shape.node_of_rank.size()),
      "PMI_SPAWNED=0",
      absl::StrCat("MPI_LOCALNRANKS=", config_.ranks.size()),
      absl::StrCat("MPI_LOCALRANKID=", own - config_.ranks.begin()),
  };
}

UniqueFd PmiStep::TakeChannel(std::uint32_t rank) {
  const auto found = channels_.find(rank);
  return found == channels_.end() ? UniqueFd() : std::move(found->second.theirs);
}

void PmiStep::Hear(std::uint32_t rank) {
  // What it had written fits into the socket; its children may write on for ever.
  for (int reads = 0; reads < kLastReads && Read(rank); ++reads) {
  }
}

// False when there is nothing to read now, or no channel.
bool PmiStep::Read(std::uint32_t rank) {
  const auto found = channels_.find(rank);
  if (found == channels_.end()) {
    return false;
  }
  std::array<char, 4096> buffer = {};
  const ssize_t got = recv(found->second.ours.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return false;
  }
  if (got <= 0) {
    Close(rank);
    return false;
  }
  const absl::StatusOr<std::string> answer =
      found->second.session->Take(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  if (!answer.ok()) {
    log_.Warning("pmi", absl::StrCat("rank ", rank, ": ", std::string(answer.status().message()),
                                     "; its channel is closed"));
    Close(rank);
    return false;
  }
  Say(rank, *answer);
  return true;
}

// What a rank does not take it did not want: nobody waits for it here. One that is gone may have
// said something before that.
void PmiStep::Say(std::uint32_t rank, const std::string& bytes) {
  const auto found = channels_.find(rank);
  if (found == channels_.end() || bytes.empty()) {
    return;
  }
  const ssize_t sent =
      send(found->second.ours.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  const bool gone = sent < 0 && (errno == EPIPE || errno == ECONNRESET);
  if (sent != static_cast<ssize_t>(bytes.size()) && !gone) {
    Close(rank);
  }
}

void PmiStep::Close(std::uint32_t rank) {
  const auto found = channels_.find(rank);
  if (found != channels_.end()) {
    loop_.Unwatch(found->second.ours.get());
    // From the loop: its session may be in the middle of a line.
    loop_.Post([gone = std::make_shared<Channel>(std::move(found->second))] { (void)gone; });
    channels_.erase(found);
  }
}

void PmiStep::EnterBarrier(std::uint32_t rank) {
  waiting_.insert(rank);
  if (waiting_.size() < config_.ranks.size()) {
    return;
  }
  if (exchange_ == nullptr) {
    LeaveBarrier("");
    return;
  }
  std::vector<std::uint32_t> all(config_.shape.nodes.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  exchange_->Fence("all", std::move(all), store_.TakeFresh(),
                   [this](const std::string& whole) { LeaveBarrier(whole); });
}

void PmiStep::LeaveBarrier(const std::string& all) {
  if (const absl::Status merged = store_.Merge(all); !merged.ok()) {
    StepBreak why;
    why.text = absl::StrCat("PMI: ", std::string(merged.message()));
    why.status.code = 1;
    news_.on_broken(why);
    return;
  }
  for (const std::uint32_t rank : std::exchange(waiting_, {})) {
    Say(rank, PmiSession::BarrierOut());
  }
}

std::vector<std::string> PmiStep::Addresses() const {
  return exchange_ == nullptr ? std::vector<std::string>() : exchange_->addresses();
}

void PmiStep::Meet(const std::vector<StepPeerAddress>& peers) {
  if (exchange_ != nullptr) {
    exchange_->Meet(ByPosition(config_.shape, peers));
  }
}

void PmiStep::Break(const StepBreak& why) {
  if (exchange_ != nullptr) {
    exchange_->Break(why);
  }
}

void PmiStep::Leave(bool told) {
  if (exchange_ != nullptr) {
    exchange_->Leave(told);
  }
}

}  // namespace muster::agent
