#include "agent/supervisor/exchange/peer_connection.h"

#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/user_space/peer_address.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

// For a connection to be made and proved.
constexpr std::chrono::seconds kPatience{5};
// A silent peer is asked after a minute, then every half minute, and given up after a quarter of an
// hour; so is one that acknowledges nothing.
constexpr int kKeepIdleSeconds = 60;
constexpr int kKeepIntervalSeconds = 30;
constexpr int kKeepCount = 28;
constexpr unsigned kUnansweredMs = 900000;

void SetOptions(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kKeepIdleSeconds, sizeof(kKeepIdleSeconds));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kKeepIntervalSeconds, sizeof(kKeepIntervalSeconds));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &kKeepCount, sizeof(kKeepCount));
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnansweredMs, sizeof(kUnansweredMs));
}

}  // namespace

std::unique_ptr<PeerConnection> PeerConnection::Call(EventLoop& loop, ClosingSockets& closing,
                                                     PeerSelf self, std::uint32_t to,
                                                     std::vector<std::string> addresses,
                                                     PeerHandlers handlers, PeerTraffic traffic) {
  std::unique_ptr<PeerConnection> made(
      new PeerConnection(loop, closing, std::move(self), std::move(handlers)));
  made->to_ = to;
  made->traffic_ = std::move(traffic);
  made->addresses_ = std::move(addresses);
  std::reverse(made->addresses_.begin(), made->addresses_.end());
  PeerConnection* const caller = made.get();
  // From the loop: the owner does not have us yet.
  made->patience_ = loop.RunAfter(std::chrono::seconds(0), [caller] {
    caller->patience_.reset();
    caller->TryNext(absl::UnavailableError("it gave no address"));
  });
  return made;
}

absl::StatusOr<std::unique_ptr<PeerConnection>> PeerConnection::Answer(EventLoop& loop,
                                                                       ClosingSockets& closing,
                                                                       PeerSelf self,
                                                                       UniqueFd socket,
                                                                       PeerHandlers handlers) {
  std::unique_ptr<PeerConnection> made(
      new PeerConnection(loop, closing, std::move(self), std::move(handlers)));
  made->socket_ = std::move(socket);
  ASSIGN_OR_RETURN(PeerSession session, PeerSession::Answer(made->self_));
  made->session_.emplace(std::move(session));
  RETURN_IF_ERROR(made->Begin());
  return made;
}

PeerConnection::~PeerConnection() {
  if (proved()) {
    loop_.Unwatch(socket_.get());
    closing_.Take(std::move(socket_), outgoing_ + session_->TakeOutgoing());
  }
  Drop();
}

void PeerConnection::Drop() {
  if (patience_.has_value()) {
    loop_.Cancel(*patience_);
    patience_.reset();
  }
  if (socket_.valid()) {
    loop_.Unwatch(socket_.get());
    socket_.reset();
  }
  session_.reset();
  outgoing_.clear();
  connecting_ = false;
}

// The socket is there: watched, and given so long to be proved.
absl::Status PeerConnection::Begin() {
  SetOptions(socket_.get());
  const std::uint32_t events = connecting_ ? EPOLLOUT : EPOLLIN;
  RETURN_IF_ERROR(
      loop_.Watch(socket_.get(), events, [this](std::uint32_t ready) { OnReady(ready); }));
  patience_ = loop_.RunAfter(kPatience, [this] {
    patience_.reset();
    Fail(absl::DeadlineExceededError("no answer in time"));
  });
  return absl::OkStatus();
}

void PeerConnection::TryNext(const absl::Status& last) {
  absl::Status why = last;
  while (!addresses_.empty()) {
    address_ = std::move(addresses_.back());
    addresses_.pop_back();
    Drop();
    why = Connect(address_);
    if (why.ok()) {
      return;
    }
  }
  Drop();
  handlers_.on_closed(why);
}

absl::Status PeerConnection::Connect(const std::string& address) {
  ASSIGN_OR_RETURN(const SocketAddress where, ParseSocketAddress(address));
  socket_.reset(socket(where.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_.valid()) {
    return absl::ErrnoToStatus(errno, "cannot make a socket");
  }
  KeepTo(traffic_, socket_.get(), where.family());
  if (connect(socket_.get(), where.get(), where.size()) != 0 && errno != EINPROGRESS) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot connect to ", address));
  }
  connecting_ = true;
  return Begin();
}

void PeerConnection::Connected() {
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    Fail(absl::ErrnoToStatus(error, absl::StrCat("cannot connect to ", address_)));
    return;
  }
  connecting_ = false;
  absl::StatusOr<PeerSession> session = PeerSession::Call(self_, to_);
  if (!session.ok()) {
    Fail(session.status());
    return;
  }
  session_.emplace(*std::move(session));
  Write();
  UpdateEvents();
}

// An address that does not lead to the peer is followed by the next; else it is the end.
void PeerConnection::Fail(const absl::Status& why) {
  if (!address_.empty() && !proved()) {
    TryNext(why);
    return;
  }
  Drop();
  handlers_.on_closed(why);
}

void PeerConnection::OnReady(std::uint32_t events) {
  if (connecting_) {
    Connected();
    return;
  }
  if ((events & EPOLLOUT) != 0) {
    Write();
    UpdateEvents();
  }
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
    Read();
  }
}

// One read a round, so that no peer starves the others.
void PeerConnection::Read() {
  std::array<char, 65536> buffer;  // NOLINT: filled by recv()
  const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  if (got <= 0) {
    Fail(got == 0 ? absl::UnavailableError("it closed the connection")
                  : absl::ErrnoToStatus(errno, "the connection was lost"));
    return;
  }
  const bool before = proved();
  std::vector<wire::PeerFrame> frames;
  const absl::Status taken =
      session_->Take({buffer.data(), static_cast<std::size_t>(got)}, &frames);
  if (proved() && !before) {
    loop_.Cancel(*patience_);
    patience_.reset();
    handlers_.on_proved();
  }
  for (const wire::PeerFrame& frame : frames) {
    handlers_.on_frame(frame);
  }
  if (!taken.ok()) {
    Fail(taken);
    return;
  }
  Write();
  UpdateEvents();
}

void PeerConnection::Send(const wire::PeerFrame& frame) {
  session_->Send(frame);
  Write();
  UpdateEvents();
}

void PeerConnection::Write() {
  outgoing_ += session_->TakeOutgoing();
  std::size_t sent = 0;
  while (sent < outgoing_.size()) {
    const ssize_t took = send(socket_.get(), outgoing_.data() + sent, outgoing_.size() - sent,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (took < 0 && errno == EINTR) {
      continue;
    }
    if (took < 0) {
      break;  // a connection that is gone is noticed by Read()
    }
    sent += static_cast<std::size_t>(took);
  }
  outgoing_.erase(0, sent);
}

void PeerConnection::UpdateEvents() {
  const std::uint32_t out = outgoing_.empty() ? 0U : static_cast<std::uint32_t>(EPOLLOUT);
  loop_.SetEvents(socket_.get(), static_cast<std::uint32_t>(EPOLLIN) | out).IgnoreError();
}

}  // namespace muster::agent
