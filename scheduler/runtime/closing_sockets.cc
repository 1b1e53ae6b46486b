#include "scheduler/runtime/closing_sockets.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace muster {
namespace {

// Of one socket in one turn, so that a peer that never stops sending starves nobody.
constexpr int kReadsMax = 32;

}  // namespace

ClosingSockets::~ClosingSockets() {
  for (const auto& [fd, closing] : closing_) {
    loop_.Unwatch(fd);
    loop_.Cancel(closing.timer);
  }
}

void ClosingSockets::Take(UniqueFd socket, std::string rest) {
  const int fd = socket.get();
  if (!loop_.Watch(fd, 0, [this, fd](std::uint32_t) { OnReady(fd); }).ok()) {
    return;
  }
  Closing& closing = closing_[fd];
  closing.socket = std::move(socket);
  closing.rest = std::move(rest);
  closing.timer = loop_.RunAfter(patience_, [this, fd] { Drop(fd); });
  OnReady(fd);
}

void ClosingSockets::WhenEmpty(std::function<void()> done) {
  if (closing_.empty()) {
    done();
  } else {
    when_empty_ = std::move(done);
  }
}

void ClosingSockets::OnReady(int fd) {
  Closing& closing = closing_.at(fd);
  Send(closing);
  Discard(closing);
  if (closing.shut && closing.ended) {
    Drop(fd);
    return;
  }
  const std::uint32_t in = closing.ended ? 0U : static_cast<std::uint32_t>(EPOLLIN);
  const std::uint32_t out = closing.shut ? 0U : static_cast<std::uint32_t>(EPOLLOUT);
  if (!loop_.SetEvents(fd, in | out).ok()) {
    Drop(fd);
  }
}

void ClosingSockets::Send(Closing& closing) {
  while (closing.sent < closing.rest.size()) {
    const ssize_t sent = send(closing.socket.get(), closing.rest.data() + closing.sent,
                              closing.rest.size() - closing.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent < 0 && errno == EAGAIN) {
      return;
    }
    // Who takes nothing any more is sent nothing more.
    closing.sent = sent < 0 ? closing.rest.size() : closing.sent + static_cast<std::size_t>(sent);
  }
  if (!std::exchange(closing.shut, true)) {
    shutdown(closing.socket.get(), SHUT_WR);
  }
}

void ClosingSockets::Discard(Closing& closing) {
  std::array<char, 65536> thrown_away;  // NOLINT: filled by recv()
  for (int reads = 0; reads < kReadsMax && !closing.ended; ++reads) {
    const ssize_t got =
        recv(closing.socket.get(), thrown_away.data(), thrown_away.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && errno == EAGAIN) {
      return;
    }
    closing.ended = got <= 0;
  }
}

void ClosingSockets::Drop(int fd) {
  const auto found = closing_.find(fd);
  loop_.Unwatch(fd);
  loop_.Cancel(found->second.timer);
  closing_.erase(found);
  if (closing_.empty() && when_empty_) {
    std::exchange(when_empty_, nullptr)();
  }
}

}  // namespace muster
