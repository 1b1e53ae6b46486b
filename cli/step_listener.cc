#include "cli/step_listener.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster {
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

absl::StatusOr<UniqueFd> Listen(int family, const sockaddr* name, socklen_t size) {
  UniqueFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid() || bind(fd.get(), name, size) != 0 || listen(fd.get(), kBacklog) != 0) {
    return absl::ErrnoToStatus(errno, "cannot listen for the step's output");
  }
  return fd;
}

}  // namespace

absl::StatusOr<std::unique_ptr<StepListener>> StepListener::ListenFor(
    EventLoop& loop, bool local, const Environment& environment) {
  if (!local) {
    return ListenTcp(loop);
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

absl::StatusOr<std::unique_ptr<StepListener>> StepListener::ListenTcp(EventLoop& loop) {
  sockaddr_in6 name = {};
  name.sin6_family = AF_INET6;
  name.sin6_addr = in6addr_any;
  ASSIGN_OR_RETURN(UniqueFd fd,
                   Listen(AF_INET6, reinterpret_cast<const sockaddr*>(&name), sizeof(name)));
  socklen_t size = sizeof(name);
  std::array<char, HOST_NAME_MAX + 1> host = {};
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0 ||
      gethostname(host.data(), host.size() - 1) != 0) {
    return absl::ErrnoToStatus(errno, "cannot tell where we listen");
  }
  return std::unique_ptr<StepListener>(new StepListener(
      loop, std::move(fd), absl::StrCat(host.data(), ":", ntohs(name.sin6_port)), ""));
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

void StepListener::Accept() {
  for (;;) {
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
    }
  }
}

void StepListener::OnReady(Id id, std::uint32_t events) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) {
    return;
  }
  bool open = true;
  if ((events & EPOLLOUT) != 0) {
    open = WriteTo(found->second);
  }
  if (open && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
    open = ReadFrom(id, found->second);
  }
  if (!open) {
    Close(id);
  }
  SendReplies();
  changed_();
}

// False when the connection is to be closed. One read a turn, so that no peer starves the others.
bool StepListener::ReadFrom(Id id, Peer& peer) {
  std::array<char, 65536> buffer;  // NOLINT: read() fills what is used.
  const ssize_t got = read(peer.fd.get(), buffer.data(), buffer.size());
  if (got < 0) {
    return errno == EAGAIN || errno == EINTR;
  }
  if (got == 0) {
    return false;
  }
  peer.reader.Append(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
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

bool StepListener::WriteTo(Peer& peer) {
  while (!peer.queued.empty()) {
    const ssize_t sent =
        send(peer.fd.get(), peer.queued.data(), peer.queued.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent < 0 && errno != EAGAIN) {
      peer.queued.clear();
      return false;
    }
    if (sent < 0) {
      break;
    }
    peer.queued.erase(0, static_cast<std::size_t>(sent));
  }
  const bool writing = !peer.queued.empty();
  if (writing != peer.writing) {
    peer.writing = writing;
    const std::uint32_t events = writing ? EPOLLIN | EPOLLOUT : EPOLLIN;
    return loop_.SetEvents(peer.fd.get(), events).ok();
  }
  return true;
}

void StepListener::SendToAll(const wire::StepFrame& frame) {
  const std::string bytes = EncodeFrame(frame);
  const bool input_only_first = first_only_ && frame.has_input();
  for (auto& entry : peers_) {
    if (session_->Knows(entry.first) && (!input_only_first || session_->IsFirst(entry.first))) {
      entry.second.queued += bytes;
      // A failing write shows up as EPOLLHUP, where the connection is closed in order.
      (void)WriteTo(entry.second);
    }
  }
}

void StepListener::SendReplies() {
  for (const StepReply& reply : session_->TakeReplies()) {
    const auto peer = peers_.find(reply.connection);
    if (peer != peers_.end()) {
      peer->second.queued += EncodeFrame(reply.frame);
      (void)WriteTo(peer->second);  // as in SendToAll()
    }
  }
}

bool StepListener::WritesPending() const {
  for (const auto& entry : peers_) {
    if (entry.second.queued.size() > kQueuedBytesMax) {
      return true;
    }
  }
  return false;
}

void StepListener::Close(Id id) {
  const auto found = peers_.find(id);
  loop_.Unwatch(found->second.fd.get());
  peers_.erase(found);
  session_->Closed(id);
}

}  // namespace muster
