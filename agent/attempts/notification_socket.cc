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

// At most this many rings are taken in one round of the loop; the rest wait for the next.
constexpr int kRingsPerTurn = 1024;

}  // namespace

absl::StatusOr<std::unique_ptr<NotificationSocket>> NotificationSocket::Open(
    EventLoop& loop, const std::string& path, Rung rung) {
  ASSIGN_OR_RETURN(UniqueFd fd, BindUnix(path, SOCK_DGRAM | SOCK_NONBLOCK));
  std::unique_ptr<NotificationSocket> doorbell(
      new NotificationSocket(loop, std::move(fd), std::move(rung)));
  NotificationSocket* const self = doorbell.get();
  RETURN_IF_ERROR(
      loop.Watch(self->socket_.get(), EPOLLIN, [self](std::uint32_t) { self->Answer(); }));
  return doorbell;
}

NotificationSocket::~NotificationSocket() {
  loop_.Unwatch(socket_.get());
}

void NotificationSocket::Answer() {
  std::set<AttemptKey> rang;
  std::array<char, 64> buffer = {};
  for (int i = 0; i < kRingsPerTurn; ++i) {
    const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0) {
      break;  // none left; any other error shows again at the next ring
    }
    const absl::StatusOr<AttemptKey> key =
        ParseAttemptKey(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    if (key.ok()) {
      rang.insert(*key);
    }
  }
  for (const AttemptKey& key : rang) {
    rung_(key);
  }
}

}  // namespace muster::agent
