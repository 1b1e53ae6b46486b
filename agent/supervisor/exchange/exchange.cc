#include "agent/supervisor/exchange/exchange.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr const char* kComponent = "exchange";
constexpr std::size_t kCallersMax = 64;
constexpr std::uint32_t kRefusalsLogged = 20;

wire::PeerFrame FrameOf(const StepBreak& why) {
  wire::PeerFrame frame;
  wire::PeerBreak* message = frame.mutable_broken();
  message->set_text(why.text);
  if (why.rank.has_value()) {
    message->set_rank(*why.rank);
  }
  message->set_code(why.status.code);
  message->set_signal(why.status.signal);
  message->set_aborted(why.aborted);
  return frame;
}

StepBreak BreakOf(const wire::PeerBreak& message) {
  StepBreak why;
  why.text = message.text();
  if (message.has_rank()) {
    why.rank = message.rank();
  }
  why.status.code = message.code();
  why.status.signal = message.signal();
  why.aborted = message.aborted();
  return why;
}

}  // namespace

Exchange::Exchange(EventLoop& loop, ClosingSockets& closing, const Logger& log,
                   ExchangeConfig config, ExchangeHandlers handlers)
    : loop_(loop),
      closing_(closing),
      log_(log),
      config_(std::move(config)),
      handlers_(std::move(handlers)),
      tree_(config_.self.position, static_cast<std::uint32_t>(config_.nodes.size())),
      gathering_(config_.self.position,
                 [this](std::uint32_t to, wire::PeerFrame frame) { Send(to, std::move(frame)); }),
      alive_(std::make_shared<const bool>(true)) {}

absl::StatusOr<std::unique_ptr<Exchange>> Exchange::Open(EventLoop& loop, ClosingSockets& closing,
                                                         const Logger& log, ExchangeConfig config,
                                                         ExchangeHandlers handlers) {
  if (config.self.secret.empty()) {
    return absl::FailedPreconditionError(
        "the controller gave the attempt no secret: is it of an older version?");
  }
  std::unique_ptr<Exchange> made(
      new Exchange(loop, closing, log, std::move(config), std::move(handlers)));
  Exchange* const self = made.get();
  for (const std::uint32_t child : self->tree_.Children()) {
    self->edges_[child];
  }
  if (!self->tree_.IsRoot()) {
    self->edges_[self->tree_.Parent()];
  }
  ASSIGN_OR_RETURN(PeerListener listener,
                   ListenForPeers(self->config_.one_machine, self->config_.traffic));
  self->listener_ = std::move(listener.socket);
  self->addresses_ = std::move(listener.addresses);
  RETURN_IF_ERROR(
      loop.Watch(self->listener_.get(), EPOLLIN, [self](std::uint32_t) { self->Accept(); }));
  return made;
}

Exchange::~Exchange() {
  loop_.Unwatch(listener_.get());
}

PeerHandlers Exchange::HandlersOf(std::uint32_t neighbour) {
  return {
      .on_proved = [this, neighbour] { OnProved(neighbour); },
      .on_frame = [this, neighbour](const wire::PeerFrame& frame) { OnFrame(neighbour, frame); },
      .on_closed = [this, neighbour](const absl::Status& why) { OnClosed(neighbour, why); }};
}

void Exchange::Meet(const std::vector<std::vector<std::string>>& addresses) {
  if (met_ || left_ || addresses.size() != tree_.count()) {
    return;
  }
  met_ = true;
  if (!tree_.IsRoot()) {
    const std::uint32_t parent = tree_.Parent();
    edges_.at(parent).connection = PeerConnection::Call(
        loop_, closing_, config_.self, parent, addresses[parent], HandlersOf(parent),
        config_.one_machine ? PeerTraffic() : config_.traffic);
  }
}

void Exchange::Accept() {
  UniqueFd fd = AcceptConnection(listener_.get());
  if (!fd.valid() || left_) {
    return;
  }
  if (callers_.size() >= kCallersMax) {
    Refuse(absl::ResourceExhaustedError("too many callers at a time"));
    return;
  }
  const std::uint64_t number = next_caller_++;
  // Who calls is known once it is proved; what it then says is its edge's.
  auto position = std::make_shared<std::optional<std::uint32_t>>();
  PeerHandlers handlers;
  handlers.on_proved = [this, number, position] {
    *position = callers_.at(number)->peer();
    OnCallerProved(number);
  };
  handlers.on_frame = [this, position](const wire::PeerFrame& frame) {
    OnFrame(**position, frame);
  };
  handlers.on_closed = [this, number, position](const absl::Status& why) {
    const auto caller = callers_.find(number);
    if (caller == callers_.end()) {
      OnClosed(**position, why);
      return;
    }
    Refuse(why);
    Bury(std::move(caller->second));
    callers_.erase(caller);
  };
  absl::StatusOr<std::unique_ptr<PeerConnection>> caller =
      PeerConnection::Answer(loop_, closing_, config_.self, std::move(fd), std::move(handlers));
  if (caller.ok()) {
    callers_[number] = *std::move(caller);
  } else {
    Refuse(caller.status());
  }
}

void Exchange::Refuse(const absl::Status& why) {
  if (refusals_++ < kRefusalsLogged) {
    log_.Warning(kComponent, absl::StrCat(config_.self.step,
                                          ": refused a caller: ", std::string(why.message())));
  }
}

void Exchange::OnCallerProved(std::uint64_t number) {
  const std::uint32_t position = callers_.at(number)->peer();
  const bool wanted = tree_.IsChild(position) && edges_.at(position).connection == nullptr &&
                      !edges_.at(position).left && !left_;
  if (!wanted) {
    // Not from within its own callback.
    loop_.Post([this, number, alive = std::weak_ptr<const bool>(alive_)] {
      if (!alive.expired() && callers_.erase(number) != 0) {
        Refuse(absl::AlreadyExistsError("a supervisor that is not awaited, or called twice"));
      }
    });
    return;
  }
  edges_.at(position).connection = std::move(callers_.at(number));
  callers_.erase(number);
  OnProved(position);
}

void Exchange::OnProved(std::uint32_t neighbour) {
  Edge& edge = edges_.at(neighbour);
  edge.proved = true;
  if (broken_.has_value()) {
    edge.connection->Send(FrameOf(*broken_));
  }
  while (!edge.waiting.empty()) {
    edge.connection->Send(edge.waiting.front());
    edge.waiting.pop_front();
  }
}

void Exchange::OnClosed(std::uint32_t neighbour, const absl::Status& why) {
  Edge& edge = edges_.at(neighbour);
  Bury(std::move(edge.connection));
  if (edge.left || left_ || broken_.has_value()) {
    return;
  }
  if (edge.proved) {
    Lost(neighbour, std::string(why.message()));
    return;
  }
  // Its ranks may have ended before we called: that is an error only when ours wait for them.
  log_.Warning(kComponent,
               absl::StrCat(config_.self.step, ": cannot reach the supervisor on ",
                            config_.nodes[neighbour], ": ", std::string(why.message())));
  edge.left = true;
  DropQuestions(neighbour);
  CheckWaiting();
}

// Its own callback may be running: it goes a round later.
void Exchange::Bury(std::unique_ptr<PeerConnection> connection) {
  loop_.Post([gone = std::shared_ptr<PeerConnection>(std::move(connection))] {});
}

// What was asked of those behind a neighbour that is gone.
void Exchange::DropQuestions(std::uint32_t neighbour) {
  std::vector<ModexDone> unanswered;
  std::erase_if(asked_, [&](auto& entry) {
    const bool behind = tree_.NextHop(entry.second.position) == neighbour;
    if (behind) {
      unanswered.push_back(std::move(entry.second.done));
    }
    return behind;
  });
  for (const ModexDone& done : unanswered) {
    done(std::nullopt);
  }
}

void Exchange::Lost(std::uint32_t neighbour, const std::string& why) {
  StepBreak lost;
  lost.text = absl::StrCat("lost the supervisor on ", config_.nodes[neighbour], ": ", why);
  lost.status.signal = SIGKILL;
  Broken(lost);
}

void Exchange::OnFrame(std::uint32_t neighbour, const wire::PeerFrame& frame) {
  const auto edge = edges_.find(neighbour);
  if (edge == edges_.end() || left_) {
    return;
  }
  if (frame.has_broken()) {
    TakeBreak(neighbour, frame.broken());
  } else if (frame.has_leave()) {
    TakeLeave(neighbour, frame.leave());
  } else if (frame.to() >= tree_.count() || frame.from() >= tree_.count()) {
    Lost(neighbour, "it sent a frame for a node that is not there");
  } else if (frame.to() == tree_.self()) {
    Handle(frame);
  } else {
    SendTo(tree_.NextHop(frame.to()), frame);
  }
}

void Exchange::Handle(const wire::PeerFrame& frame) {
  absl::Status status;
  if (frame.has_gather()) {
    status = gathering_.Take(frame.from(), frame.gather());
  } else if (frame.has_result()) {
    status = gathering_.Take(frame.from(), frame.result());
  } else if (frame.has_modex_ask()) {
    handlers_.on_asked(frame.from(), frame.modex_ask().id(), frame.modex_ask().rank());
  } else if (frame.has_modex_answer()) {
    TakeAnswer(frame.modex_answer());
  } else {
    status = absl::InvalidArgumentError("it sent a frame that we do not know");
  }
  if (!status.ok()) {
    StepBreak why;
    why.text = std::string(status.message());
    why.status.code = 1;
    Broken(why);
  }
}

void Exchange::TakeBreak(std::uint32_t neighbour, const wire::PeerBreak& message) {
  if (!broken_.has_value()) {
    broken_ = BreakOf(message);
    TellNeighbours(FrameOf(*broken_), neighbour);
    handlers_.on_broken(*broken_);
  }
}

void Exchange::TakeLeave(std::uint32_t neighbour, const wire::PeerLeave& message) {
  Edge& edge = edges_.at(neighbour);
  edge.left = true;
  edge.told = message.told();
  DropQuestions(neighbour);
  CheckWaiting();
}

// Our ranks may wait for what cannot come any more: others ended without it.
void Exchange::CheckWaiting() {
  if (broken_.has_value() || left_) {
    return;
  }
  std::optional<std::uint32_t> missing;
  const bool waits = gathering_.WaitsFor([&](std::uint32_t position) {
    const std::uint32_t hop = tree_.NextHop(position);
    const Edge& edge = edges_.at(hop);
    const bool gone = edge.left && !edge.told;
    missing = gone ? hop : missing;
    return gone;
  });
  if (waits) {
    StepBreak why;
    why.text = absl::StrCat("the ranks on ", config_.nodes[*missing],
                            " are gone while others wait for them in a fence");
    why.status.code = 1;
    Broken(why);
  }
}

void Exchange::Fence(const std::string& members, std::vector<std::uint32_t> positions,
                     std::string data, Gathering::Done done) {
  if (left_ || broken_.has_value()) {
    return;
  }
  const absl::Status entered =
      gathering_.Enter(members, std::move(positions), std::move(data), std::move(done));
  if (!entered.ok()) {
    StepBreak why;
    why.text = std::string(entered.message());
    why.status.code = 1;
    Broken(why);
  }
  CheckWaiting();
}

void Exchange::AskModex(std::uint32_t position, std::uint32_t rank, ModexDone done) {
  if (position >= tree_.count() || position == tree_.self() || left_ ||
      edges_.at(tree_.NextHop(position)).left) {
    done(std::nullopt);
    return;
  }
  wire::PeerFrame frame;
  frame.mutable_modex_ask()->set_id(next_ask_);
  frame.mutable_modex_ask()->set_rank(rank);
  asked_[next_ask_++] = Question{position, std::move(done)};
  Send(position, std::move(frame));
}

void Exchange::AnswerModex(std::uint32_t asker, std::uint64_t id,
                           const std::optional<std::string>& data) {
  if (left_) {
    return;
  }
  wire::PeerFrame frame;
  wire::PeerModexAnswer* answer = frame.mutable_modex_answer();
  answer->set_id(id);
  const bool fits = data.has_value() && data->size() <= Gathering::kBytesMax;
  answer->set_found(fits);
  if (fits) {
    answer->set_data(*data);
  }
  Send(asker, std::move(frame));
}

void Exchange::TakeAnswer(const wire::PeerModexAnswer& answer) {
  const auto found = asked_.find(answer.id());
  if (found == asked_.end()) {
    return;
  }
  const ModexDone done = std::move(found->second.done);
  asked_.erase(found);
  done(answer.found() ? std::optional(answer.data()) : std::nullopt);
}

void Exchange::Send(std::uint32_t to, wire::PeerFrame frame) {
  frame.set_from(tree_.self());
  frame.set_to(to);
  SendTo(tree_.NextHop(to), frame);
}

void Exchange::SendTo(std::uint32_t neighbour, const wire::PeerFrame& frame) {
  Edge& edge = edges_.at(neighbour);
  if (edge.connection != nullptr && edge.connection->proved() && !edge.left) {
    edge.connection->Send(frame);
  } else if (!edge.left) {
    edge.waiting.push_back(frame);
  }
}

void Exchange::TellNeighbours(const wire::PeerFrame& frame, std::optional<std::uint32_t> except) {
  for (auto& [neighbour, edge] : edges_) {
    if (neighbour != except && edge.connection != nullptr && edge.connection->proved()) {
      edge.connection->Send(frame);
    }
  }
}

void Exchange::Break(const StepBreak& why) {
  if (!broken_.has_value() && !left_) {
    broken_ = why;
    TellNeighbours(FrameOf(why), std::nullopt);
  }
}

void Exchange::Broken(const StepBreak& why) {
  if (!broken_.has_value() && !left_) {
    log_.Warning(kComponent, absl::StrCat(config_.self.step, ": ", why.text));
    Break(why);
    handlers_.on_broken(why);
  }
}

void Exchange::Leave(bool told) {
  if (std::exchange(left_, true)) {
    return;
  }
  wire::PeerFrame frame;
  frame.mutable_leave()->set_told(told);
  TellNeighbours(frame, std::nullopt);
}

}  // namespace muster::agent
