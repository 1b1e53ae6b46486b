#include "cli/run/stream/step_listener.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr int kBacklog = 128;
constexpr const char* kSocketName = "/io.sock";

absl::StatusOr<std::string> MakePrivateDirectory(const std::string& parent) {
  std::string path = parent + "/muster-run.XXXXXX";
  if (path.size() + std::strlen(kSocketName) >= sizeof(sockaddr_un::sun_path)) {
    return absl::FailedPreconditionError(absl::StrCat(
        parent, ": too long for a socket's path: set XDG_RUNTIME_DIR to a shorter one"));
  }
  if (mkdtemp(path.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat(parent, ": cannot make a directory"));
  }
  return path;
}

// What is accepted goes and is marked as the socket that accepts it. Where we may not say so, the
// address leads by the NIC.
void KeepTo(const ListenBy& by, int socket) {
  if (!by.device.empty()) {
    (void)setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, by.device.c_str(),
                     static_cast<socklen_t>(by.device.size()));
  }
  if (by.dscp > 0) {
    constexpr int kBelowDscp = 2;  // bits: explicit congestion notification
    const int mark = static_cast<int>(by.dscp) << kBelowDscp;
    (void)setsockopt(socket, IPPROTO_IP, IP_TOS, &mark, sizeof mark);
    (void)setsockopt(socket, IPPROTO_IPV6, IPV6_TCLASS, &mark, sizeof mark);
  }
}

absl::StatusOr<UniqueFd> Listen(int family, const sockaddr* name, socklen_t size,
                                const ListenBy& by = {}) {
  UniqueFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.valid()) {
    KeepTo(by, fd.get());
  }
  if (!fd.valid() || bind(fd.get(), name, size) != 0 || listen(fd.get(), kBacklog) != 0) {
    return absl::ErrnoToStatus(errno, "cannot listen for the step's output");
  }
  return fd;
}

}  // namespace

absl::StatusOr<std::unique_ptr<StepListener>> StepListener::ListenFor(
    EventLoop& loop, bool local, const Environment& environment, const ListenBy& by) {
  if (!local) {
    return ListenTcp(loop, by);
  }
  const std::string runtime = environment.Get("XDG_RUNTIME_DIR");
  const bool usable = !runtime.empty() && access(runtime.c_str(), W_OK | X_OK) == 0;
  return ListenUnix(loop, usable ? runtime : "/tmp");
}

absl::StatusOr<std::unique_ptr<StepListener>> StepListener::ListenUnix(
    EventLoop& loop, const std::string& directory) {
  ASSIGN_OR_RETURN(const std::string home, MakePrivateDirectory(directory));
  const std::string path = home + kSocketName;
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.c_str(), path.size());
  absl::StatusOr<UniqueFd> fd =
      Listen(AF_UNIX, reinterpret_cast<const sockaddr*>(&name), sizeof(name));
  if (!fd.ok()) {
    rmdir(home.c_str());
    return fd.status();
  }
  return std::unique_ptr<StepListener>(
      new StepListener(loop, *std::move(fd), "unix:" + path, home));
}

absl::StatusOr<std::unique_ptr<StepListener>> StepListener::ListenTcp(EventLoop& loop,
                                                                      const ListenBy& by) {
  sockaddr_in6 name = {};
  name.sin6_family = AF_INET6;
  name.sin6_addr = in6addr_any;
  ASSIGN_OR_RETURN(UniqueFd fd,
                   Listen(AF_INET6, reinterpret_cast<const sockaddr*>(&name), sizeof(name), by));
  socklen_t size = sizeof(name);
  std::array<char, HOST_NAME_MAX + 1> host = {};
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0 ||
      gethostname(host.data(), host.size() - 1) != 0) {
    return absl::ErrnoToStatus(errno, "cannot tell where we listen");
  }
  const std::string known = by.address.empty()                          ? host.data()
                            : by.address.find(':') == std::string::npos ? by.address
                                                                        : "[" + by.address + "]";
  return std::unique_ptr<StepListener>(
      new StepListener(loop, std::move(fd), absl::StrCat(known, ":", ntohs(name.sin6_port)), ""));
}

StepListener::~StepListener() {
  loop_.Unwatch(fd_.get());
  for (auto& peer : peers_) {
    loop_.Unwatch(peer.second.fd.get());
  }
  if (!directory_.empty()) {
    unlink((directory_ + kSocketName).c_str());
    rmdir(directory_.c_str());
  }
}

absl::Status StepListener::Start(StepSession* session, std::function<void()> changed) {
  session_ = session;
  changed_ = std::move(changed);
  return loop_.Watch(fd_.get(), EPOLLIN, [this](std::uint32_t) { Accept(); });
}

void StepListener::CountStrangers() {
  const auto strangers = std::count_if(peers_.begin(), peers_.end(), [this](const auto& entry) {
    return !session_->Knows(entry.first);
  });
  const bool room = static_cast<std::size_t>(strangers) < kStrangersMax;
  if (std::exchange(accepting_, room) != room) {
    loop_.SetEvents(fd_.get(), room ? static_cast<std::uint32_t>(EPOLLIN) : 0U).IgnoreError();
  }
}

void StepListener::Accept() {
  for (CountStrangers(); accepting_; CountStrangers()) {
    UniqueFd fd(accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid()) {
      return;  // EAGAIN, or a peer that went away between connect and accept.
    }
    const Id id = next_++;
    const int number = fd.get();
    peers_[id].fd = std::move(fd);
    const absl::Status watched =
        loop_.Watch(number, EPOLLIN, [this, id](std::uint32_t events) { OnReady(id, events); });
    if (!watched.ok()) {
      peers_.erase(id);
      continue;
    }
    timers_.After(kStrangerTime, [this, id] {
      if (peers_.count(id) != 0 && !session_->Knows(id)) {
        Close(id);
        CountStrangers();
      }
    });
  }
}

void StepListener::OnReady(Id id, std::uint32_t events) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) {
    return;
  }
  if ((events & EPOLLOUT) != 0) {
    WriteTo(found->second);
  }
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !ReadFrom(id, found->second)) {
    Close(id);
  }
  if (!accepting_) {
    CountStrangers();
  }
  SendReplies();
  changed_();
}

// False when the connection is to be closed. One read a round, so that no peer starves the others.
bool StepListener::ReadFrom(Id id, Peer& peer) {
  std::array<char, 65536> buffer;  // NOLINT: read() fills what is used.
  const ssize_t got = read(peer.fd.get(), buffer.data(), buffer.size());
  if (got < 0) {
    return errno == EAGAIN || errno == EINTR;
  }
  if (got == 0) {
    return false;
  }
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  if (!sealed()) {
    peer.reader.Append(bytes);
    return TakeFrames(id, peer).ok();
  }
  std::string plain;
  if (!peer.seal.Take(bytes, session_->tokens(), &seen_, &plain).ok()) {
    return false;
  }
  peer.reader.Append(plain);
  return TakeFrames(id, peer).ok();
}

absl::Status StepListener::TakeFrames(Id id, Peer& peer) {
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<wire::StepFrame> frame, peer.reader.Next());
    if (!frame.has_value()) {
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(session_->Take(id, *frame));
  }
}

void StepListener::Queue(Peer& peer, const std::string& frame) {
  const absl::StatusOr<std::string> bytes =
      sealed() ? peer.seal.Seal(frame) : absl::StatusOr<std::string>(frame);
  peer.deaf = peer.deaf || !bytes.ok();  // libcrypto fails: never in the clear
  peer.queued += bytes.ok() ? *bytes : "";
  WriteTo(peer);
}

// A peer that is gone is noticed by ReadFrom(), after its last word.
void StepListener::WriteTo(Peer& peer) {
  while (!peer.queued.empty() && !peer.deaf) {
    const ssize_t sent =
        send(peer.fd.get(), peer.queued.data(), peer.queued.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent < 0) {
      peer.deaf = errno != EAGAIN;
      break;
    }
    peer.queued.erase(0, static_cast<std::size_t>(sent));
  }
  if (peer.deaf) {
    peer.queued.clear();
  }
  const bool writing = !peer.queued.empty();
  if (std::exchange(peer.writing, writing) != writing) {
    const std::uint32_t events = writing ? EPOLLIN | EPOLLOUT : EPOLLIN;
    loop_.SetEvents(peer.fd.get(), events).IgnoreError();
  }
}

void StepListener::SendToAll(const wire::StepFrame& frame) {
  const std::string bytes = EncodeFrame(frame);
  for (auto& [id, peer] : peers_) {
    if (frame.has_input() ? TakesInput(id) : session_->Knows(id)) {
      session_->SentInput(id, frame.input().data().size());
      Queue(peer, bytes);
    }
  }
}

bool StepListener::TakesInput(Id id) const {
  return session_->TakesInput(id) && (!first_only_ || session_->IsFirst(id));
}

bool StepListener::TakesInput() const {
  return std::any_of(peers_.begin(), peers_.end(),
                     [this](const auto& entry) { return TakesInput(entry.first); });
}

void StepListener::SendReplies() {
  for (const StepReply& reply : session_->TakeReplies()) {
    const auto peer = peers_.find(reply.connection);
    if (peer != peers_.end()) {
      Queue(peer->second, EncodeFrame(reply.frame));
    }
  }
}

bool StepListener::WritesPending() const {
  return std::any_of(peers_.begin(), peers_.end(), [this](const auto& entry) {
    return TakesInput(entry.first) &&
           (entry.second.queued.size() > kQueuedBytesMax || !session_->HasInputRoom(entry.first));
  });
}

void StepListener::Close(Id id) {
  const auto found = peers_.find(id);
  loop_.Unwatch(found->second.fd.get());
  peers_.erase(found);
  session_->Closed(id);
}

}  // namespace muster::cli
