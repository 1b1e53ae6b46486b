#include "agent/supervisor/step/step_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/supervisor.pb.h"
#include "scheduler/base/little_endian.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr std::size_t kFrameBytesMax = std::size_t{8} << 20;
// Less is not worth a frame.
constexpr std::size_t kGrantBytesMin = StepConnection::kInputRoomBytes / 4;

std::string Framed(const wire::StepFrame& frame) {
  const std::string body = frame.SerializeAsString();
  std::string bytes;
  bytes.reserve(kNumberBytes + body.size());
  PutNumber(body.size(), bytes);
  return bytes + body;
}

std::vector<StepPeerAddress> PeersOf(const wire::StepPeers& message) {
  std::vector<StepPeerAddress> peers;
  for (const wire::StepPeer& peer : message.peers()) {
    peers.push_back({peer.node_index(), {peer.exchange().begin(), peer.exchange().end()}});
  }
  return peers;
}

StepBreak BreakOf(const wire::StepBroken& message) {
  StepBreak why;
  if (message.has_exit()) {
    why.rank = message.exit().rank();
  }
  why.status.code = message.exit().code();
  why.status.signal = message.exit().signal();
  why.aborted = message.exit().aborted();
  why.text = message.has_exit() ? absl::StrCat("rank ", *why.rank, " on ", message.node(), " ended")
                                : absl::StrCat("lost ", message.node());
  return why;
}

}  // namespace

absl::StatusOr<std::unique_ptr<StepConnection>> StepConnection::Open(
    EventLoop& loop, ClosingSockets& closing, UniqueFd socket, const std::string& token,
    const StepGreeting& greeting, StepConnectionHandlers handlers) {
  std::unique_ptr<StepConnection> made(
      new StepConnection(loop, closing, std::move(socket), std::move(handlers)));
  StepConnection* self = made.get();
  RETURN_IF_ERROR(self->Begin(token));
  RETURN_IF_ERROR(loop.Watch(self->socket_.get(), EPOLLIN,
                             [self](std::uint32_t events) { self->OnReady(events); }));
  wire::StepFrame frame;
  wire::StepHello* hello = frame.mutable_hello();
  hello->set_token(token);
  hello->set_node_index(greeting.node_index);
  hello->set_node(greeting.node);
  hello->set_ranks(greeting.ranks);
  hello->set_nodes(greeting.nodes);
  hello->set_terminal(greeting.terminal);
  hello->set_input_room(kInputRoomBytes);
  for (const std::string& address : greeting.exchange) {
    hello->add_exchange(address);
  }
  self->Queue({.bytes = Framed(frame)});
  return made;
}

absl::Status StepConnection::Begin(const std::string& token) {
  int family = AF_UNIX;
  socklen_t size = sizeof(family);
  if (getsockopt(socket_.get(), SOL_SOCKET, SO_DOMAIN, &family, &size) != 0) {
    return absl::ErrnoToStatus(errno, "cannot tell where the connection leads");
  }
  if (family != AF_UNIX) {
    std::string preface;
    ASSIGN_OR_RETURN(seal_, SealedStream::Call(token, &preface));
    outgoing_.push_back({.bytes = std::move(preface)});
  }
  return absl::OkStatus();
}

StepConnection::~StepConnection() {
  loop_.Unwatch(socket_.get());
  if (lost_) {
    return;
  }
  std::string rest;
  for (const Outgoing& frame : outgoing_) {
    rest += frame.bytes;
  }
  closing_.Take(std::move(socket_), rest.substr(first_sent_));
}

void StepConnection::SendOutput(std::uint32_t rank, bool error, std::string_view data) {
  wire::StepFrame frame;
  wire::StepOutput* output = frame.mutable_output();
  output->set_rank(rank);
  output->set_error(error);
  output->set_data(data.data(), data.size());
  Queue({.bytes = Framed(frame), .rank = rank, .output = true});
}

void StepConnection::SendExit(const RankExit& exit, const ExitMeaning& meaning) {
  wire::StepFrame frame;
  wire::StepRankExit* message = frame.mutable_exit();
  message->set_rank(exit.rank);
  message->set_code(exit.status.code);
  message->set_signal(exit.status.signal);
  message->set_text(exit.text);
  message->set_with_others(meaning.with_others);
  message->set_aborted(meaning.aborted);
  message->set_fatal(meaning.fatal);
  message->set_unjoined(meaning.unjoined);
  Queue({.bytes = Framed(frame)});
}

void StepConnection::SendMeet() {
  wire::StepFrame frame;
  frame.mutable_meet();
  Queue({.bytes = Framed(frame)});
}

void StepConnection::SendDone() {
  wire::StepFrame frame;
  frame.mutable_done();
  Queue({.bytes = Framed(frame)});
}

void StepConnection::EndInput() {
  if (!std::exchange(input_ended_, true) && client_stops_) {
    TellInputEnded();
  }
}

// Not to those who have copies: their input is another.
void StepConnection::TellInputEnded() {
  wire::StepFrame frame;
  frame.mutable_input_closed();
  QueueHere({.bytes = Framed(frame)});
}

bool StepConnection::Full(std::uint32_t rank) const {
  const auto found = queued_.find(rank);
  return found != queued_.end() && found->second >= kQueuedBytesMax;
}

void StepConnection::PauseInput(bool paused) {
  pauses_ += paused ? 1 : -1;
  UpdateEvents();
  GrantRoom();
}

void StepConnection::Queue(Outgoing frame) {
  for (StepConnection* copy : copies_) {
    copy->Copy(frame);
  }
  QueueHere(std::move(frame));
}

void StepConnection::QueueHere(Outgoing frame) {
  if (lost_) {
    return;
  }
  if (seal_.has_value()) {
    absl::StatusOr<std::string> sealed = seal_->Seal(frame.bytes);
    frame.bytes = sealed.ok() ? *std::move(sealed) : "";  // the client then loses the thread
  }
  if (frame.output) {
    queued_[frame.rank] += frame.bytes.size();
  }
  outgoing_.push_back(std::move(frame));
  Write();
  UpdateEvents();
}

void StepConnection::Copy(const Outgoing& frame) {
  std::size_t behind = 0;
  for (const auto& [rank, bytes] : queued_) {
    behind += bytes;
  }
  if (lost_) {
    return;
  }
  if (behind >= kQueuedBytesMax) {
    Lose();
  } else {
    QueueHere(frame);
  }
}

void StepConnection::OnReady(std::uint32_t events) {
  if ((events & EPOLLOUT) != 0) {
    Write();
  }
  if (!lost_ && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
    Read();
  }
  if (lost_) {
    return;
  }
  UpdateEvents();
  if (outgoing_.empty() && when_flushed_) {
    const std::function<void()> done = std::exchange(when_flushed_, nullptr);
    done();
  }
}

void StepConnection::Write() {
  while (!lost_ && !outgoing_.empty()) {
    const Outgoing& frame = outgoing_.front();
    const ssize_t sent = send(socket_.get(), frame.bytes.data() + first_sent_,
                              frame.bytes.size() - first_sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent < 0) {
      // A connection that is gone is noticed by Read(), so that the handlers are called from the
      // loop only.
      return;
    }
    first_sent_ += static_cast<std::size_t>(sent);
    if (first_sent_ == frame.bytes.size()) {
      const Outgoing gone = std::move(outgoing_.front());
      outgoing_.pop_front();
      first_sent_ = 0;
      Sent(gone);
    }
  }
}

void StepConnection::Sent(const Outgoing& frame) {
  if (!frame.output) {
    return;
  }
  std::size_t& queued = queued_[frame.rank];
  const bool was_full = queued >= kQueuedBytesMax;
  queued -= frame.bytes.size();
  if (was_full && queued < kQueuedBytesMax) {
    handlers_.on_room(frame.rank);
  }
}

void StepConnection::Read() {
  std::array<char, 65536> buffer = {};
  const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  if (got <= 0) {
    Lose();
    return;
  }
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  if (seal_.has_value() && !seal_->Open(bytes, &incoming_).ok()) {
    Lose();
    return;
  }
  if (!seal_.has_value()) {
    incoming_ += bytes;
  }
  TakeFrames();
}

void StepConnection::TakeFrames() {
  std::size_t at = 0;
  while (!lost_ && incoming_.size() - at >= kNumberBytes) {
    const std::size_t length = NumberAt(incoming_, at);
    if (length > kFrameBytesMax) {
      Lose();
      return;
    }
    if (incoming_.size() - at < kNumberBytes + length) {
      break;
    }
    wire::StepFrame frame;
    if (!frame.ParseFromArray(incoming_.data() + at + kNumberBytes, static_cast<int>(length))) {
      Lose();
      return;
    }
    at += kNumberBytes + length;
    if (frame.has_input()) {
      TakeInput(frame.input());
    } else if (frame.has_signal()) {
      handlers_.on_signal(frame.signal().signal());
    } else if (frame.has_peers()) {
      handlers_.on_peers(PeersOf(frame.peers()));
    } else if (frame.has_broken()) {
      handlers_.on_broken(BreakOf(frame.broken()));
    } else if (frame.has_resize() && handlers_.on_resize) {
      handlers_.on_resize({frame.resize().rows(), frame.resize().columns()});
    }
  }
  incoming_.erase(0, at);
}

// False when the client has sent more than it may.
bool StepConnection::CountInput(const wire::StepInput& input) {
  client_counts_ = input.within_room();
  if (!client_counts_) {
    return true;
  }
  if (input.data().size() > room_) {
    return false;
  }
  room_ -= input.data().size();
  taken_ += input.data().size();
  return true;
}

void StepConnection::GrantRoom() {
  if (lost_ || pauses_ > 0 || taken_ < kGrantBytesMin) {
    return;
  }
  wire::StepFrame frame;
  frame.mutable_input_room()->set_bytes(taken_);
  room_ += std::exchange(taken_, 0);
  QueueHere({.bytes = Framed(frame)});
}

void StepConnection::TakeInput(const wire::StepInput& input) {
  if (!CountInput(input)) {
    Lose();
    return;
  }
  const bool stops = input.stops() && !std::exchange(client_stops_, true);
  if (!input_ended_) {
    handlers_.on_input(input.data());
  } else if (stops) {
    TellInputEnded();
  }
  GrantRoom();
}

void StepConnection::Lose() {
  lost_ = true;
  loop_.Unwatch(socket_.get());
  outgoing_.clear();
  queued_.clear();
  incoming_.clear();
  when_flushed_ = nullptr;
  handlers_.on_lost();
}

void StepConnection::UpdateEvents() {
  if (lost_) {
    return;
  }
  const bool reads = pauses_ == 0 || client_counts_;
  const std::uint32_t events = (reads ? static_cast<std::uint32_t>(EPOLLIN) : 0U) |
                               (outgoing_.empty() ? 0U : static_cast<std::uint32_t>(EPOLLOUT));
  loop_.SetEvents(socket_.get(), events).IgnoreError();
}

}  // namespace muster::agent
