#include "agent/supervisor/image/layout/share_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/user_space/peer_address.h"
#include "scheduler/base/little_endian.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

using ShareClock = std::chrono::steady_clock;
using Deadline = ShareClock::time_point;

constexpr std::size_t kHeadBytes = 1 + kNumberBytes;
constexpr std::string_view kKinds = "wnafde";
// A caller that does not know the token keeps the others waiting no longer.
constexpr std::chrono::milliseconds kProofWithin{2000};

static_assert(kHeadBytes + ShareChannel::kTextBytesMax <= SealedStream::kRecordBytesMax);

// Whether the socket can be read or written by then.
bool WaitFor(const UniqueFd& socket, short what, Deadline until) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - ShareClock::now()).count();
    pollfd polled{socket.get(), what, 0};
    const int ready = poll(&polled, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready != 0 && !(ready < 0 && errno == EINTR)) {
      return ready > 0;
    }
    if (left <= 0) {
      return false;
    }
  }
}

absl::Status SendAll(const UniqueFd& socket, std::string_view bytes, Deadline until) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      return absl::UnavailableError("the other node has closed the connection");
    } else if (!WaitFor(socket, POLLOUT, until)) {
      return absl::UnavailableError("the other node takes nothing");
    }
  }
  return absl::OkStatus();
}

// At least one byte.
absl::StatusOr<std::string> ReceiveSome(const UniqueFd& socket, std::size_t most, Deadline until) {
  std::string bytes(most, '\0');
  for (;;) {
    const ssize_t got = recv(socket.get(), bytes.data(), bytes.size(), 0);
    if (got > 0) {
      bytes.resize(static_cast<std::size_t>(got));
      return bytes;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      return absl::UnavailableError("the other node has closed the connection");
    }
    if (!WaitFor(socket, POLLIN, until)) {
      return absl::UnavailableError("the other node sends nothing");
    }
  }
}

absl::StatusOr<UniqueFd> Connect(const std::string& text, Deadline until) {
  ASSIGN_OR_RETURN(const SocketAddress address, ParseSocketAddress(text));
  UniqueFd fd(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int error = 0;
  socklen_t size = sizeof(error);
  if (fd.valid() &&
      (connect(fd.get(), address.get(), address.size()) == 0 ||
       (errno == EINPROGRESS && WaitFor(fd, POLLOUT, until) &&
        getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0))) {
    return fd;
  }
  return absl::UnavailableError(absl::StrCat(text, " does not answer"));
}

}  // namespace

absl::StatusOr<ShareChannel> ShareChannel::Call(const std::vector<std::string>& addresses,
                                                const std::string& token, Patience patience) {
  absl::Status why = absl::InvalidArgumentError("no address");
  const Deadline until = ShareClock::now() + patience;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    // One that drops our packets leaves time for the others.
    const auto share =
        (until - ShareClock::now()) / static_cast<std::int64_t>(addresses.size() - i);
    absl::StatusOr<UniqueFd> socket = Connect(addresses[i], ShareClock::now() + share);
    if (!socket.ok()) {
      why = socket.status();
      continue;
    }
    std::string preface;
    ASSIGN_OR_RETURN(SealedStream stream, SealedStream::Call(token, &preface));
    RETURN_IF_ERROR(SendAll(*socket, preface, until));
    return ShareChannel(*std::move(socket), std::move(stream));
  }
  return why;
}

absl::StatusOr<ShareChannel> ShareChannel::Answer(UniqueFd socket, const std::string& token,
                                                  Patience patience) {
  const Deadline until = ShareClock::now() + patience;
  std::string preface;
  while (preface.size() < SealedStream::kPrefaceBytes) {
    ASSIGN_OR_RETURN(const std::string more,
                     ReceiveSome(socket, SealedStream::kPrefaceBytes - preface.size(), until));
    preface += more;
  }
  ASSIGN_OR_RETURN(SealedStream stream, SealedStream::Answer(token, preface));
  ShareChannel channel(std::move(socket), std::move(stream));
  // Only who has the token can say anything.
  while (channel.plain_.empty()) {
    ASSIGN_OR_RETURN(const std::string more,
                     ReceiveSome(channel.socket_, SealedStream::kRecordBytesMax, until));
    RETURN_IF_ERROR(channel.stream_.Open(more, &channel.plain_));
  }
  return channel;
}

absl::StatusOr<ShareChannel> ShareChannel::AwaitCall(const UniqueFd& listener,
                                                     const std::string& token, Patience patience) {
  const Deadline until = ShareClock::now() + patience;
  while (WaitFor(listener, POLLIN, until)) {
    UniqueFd caller(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!caller.valid()) {
      continue;
    }
    absl::StatusOr<ShareChannel> channel = Answer(std::move(caller), token, kProofWithin);
    if (channel.ok()) {
      return channel;
    }
  }
  return absl::DeadlineExceededError("no node has offered it");
}

absl::Status ShareChannel::Send(ShareKind kind, std::string_view text, Patience patience) {
  std::string frame(1, static_cast<char>(kind));
  PutNumber(text.size(), frame);
  frame += text;
  ASSIGN_OR_RETURN(const std::string sealed, stream_.Seal(frame));
  return SendAll(socket_, sealed, ShareClock::now() + patience);
}

// The first frame of what came, if it is whole.
absl::StatusOr<std::optional<ShareFrame>> ShareChannel::TakeFrame() {
  if (plain_.size() < kHeadBytes) {
    return std::optional<ShareFrame>();
  }
  const std::size_t size = NumberAt(plain_, 1);
  if (size > kTextBytesMax || kKinds.find(plain_.front()) == std::string_view::npos) {
    return absl::InvalidArgumentError("the other node sends what is no frame");
  }
  if (plain_.size() < kHeadBytes + size) {
    return std::optional<ShareFrame>();
  }
  ShareFrame frame{static_cast<ShareKind>(plain_.front()), plain_.substr(kHeadBytes, size)};
  plain_.erase(0, kHeadBytes + size);
  return std::optional<ShareFrame>(std::move(frame));
}

absl::StatusOr<ShareFrame> ShareChannel::Receive(Patience patience) {
  const Deadline until = ShareClock::now() + patience;
  for (;;) {
    ASSIGN_OR_RETURN(std::optional<ShareFrame> frame, TakeFrame());
    if (frame.has_value()) {
      return *std::move(frame);
    }
    ASSIGN_OR_RETURN(const std::string more,
                     ReceiveSome(socket_, SealedStream::kRecordBytesMax, until));
    RETURN_IF_ERROR(stream_.Open(more, &plain_));
  }
}

}  // namespace muster::agent
