#include "daemon/door/known_connections.h"

#include <algorithm>
#include <utility>

#include "daemon/door/socket_facts.h"

namespace muster::daemon {

void KnownConnections::SetMost(std::size_t of_caller) {
  const MutexLock lock(&mutex_);
  most_ = of_caller;
}

bool KnownConnections::Claim(const std::string& caller) {
  if (caller.empty()) {
    return true;
  }
  const MutexLock lock(&mutex_);
  std::size_t& count = of_[caller];
  if (count >= most_) {
    return false;
  }
  ++count;
  ++claimed_[caller];
  return true;
}

void KnownConnections::Add(int fd, std::uint64_t cookie, bool unix_socket, std::string caller) {
  if (!caller.empty()) {
    const MutexLock lock(&mutex_);
    if (--claimed_[caller] == 0) {
      claimed_.erase(caller);
    }
  }
  of_unix_ += unix_socket ? 1 : 0;
  known_.push_back({fd, cookie, unix_socket, std::move(caller)});
}

void KnownConnections::GiveUp(const std::string& caller) {
  if (caller.empty()) {
    return;
  }
  const MutexLock lock(&mutex_);
  --of_[caller];
  if (--claimed_[caller] == 0) {
    claimed_.erase(caller);
  }
}

void KnownConnections::Look() {
  std::erase_if(known_, [](const Known& known) { return CookieOf(known.fd) != known.cookie; });
  of_unix_ = static_cast<std::size_t>(std::count_if(
      known_.begin(), known_.end(), [](const Known& known) { return known.unix_socket; }));
  const MutexLock lock(&mutex_);
  of_ = claimed_;
  for (const Known& known : known_) {
    if (!known.caller.empty()) {
      ++of_[known.caller];
    }
  }
}

}  // namespace muster::daemon
