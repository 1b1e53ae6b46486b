#include "agent/attempts/notification_socket.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

// At most this many notifications are taken in one round of the loop; the rest wait for the next.
constexpr int kPerRound = 1024;
constexpr std::size_t kBytesMax = 8192;

}  // namespace

absl::StatusOr<std::unique_ptr<NotificationSocket>> NotificationSocket::Open(
    EventLoop& loop, const std::string& path, Notified notified, Wanted wanted) {
  ASSIGN_OR_RETURN(UniqueFd fd, BindUnix(path, SOCK_DGRAM | SOCK_NONBLOCK));
  std::unique_ptr<NotificationSocket> socket(
      new NotificationSocket(loop, std::move(fd), std::move(notified), std::move(wanted)));
  NotificationSocket* const self = socket.get();
  RETURN_IF_ERROR(
      loop.Watch(self->socket_.get(), EPOLLIN, [self](std::uint32_t) { self->Answer(); }));
  return socket;
}

NotificationSocket::~NotificationSocket() {
  loop_.Unwatch(socket_.get());
}

void NotificationSocket::Answer() {
  std::set<AttemptKey> named;
  std::array<char, kBytesMax> buffer = {};
  for (int i = 0; i < kPerRound; ++i) {
    const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0) {
      break;  // none left; any other error shows again at the next one
    }
    const std::string_view said(buffer.data(), static_cast<std::size_t>(got));
    const std::size_t line = said.find('\n');
    const absl::StatusOr<AttemptKey> key = ParseAttemptKey(said.substr(0, line));
    if (key.ok() && line != std::string_view::npos) {
      wanted_(*key, std::string(said.substr(line + 1)));
    } else if (key.ok()) {
      named.insert(*key);
    }
  }
  for (const AttemptKey& key : named) {
    notified_(key);
  }
}

}  // namespace muster::agent
