#include "daemon/access/read_queue.h"

#include <utility>
#include <vector>

namespace muster::daemon {

bool ReadQueue::Take(std::uint32_t uid, Read read) {
  {
    const MutexLock lock(&mutex_);
    User& user = users_[uid];
    if (user.running >= kAtOnce) {
      if (user.waiting.size() >= kWaitingMax) {
        return false;
      }
      user.waiting.push_back(std::move(read));
      return true;
    }
    ++user.running;
  }
  read(MakeTurn(uid));
  return true;
}

std::size_t ReadQueue::Waiting(std::uint32_t uid) const {
  const MutexLock lock(&mutex_);
  const auto user = users_.find(uid);
  return user == users_.end() ? 0 : user->second.waiting.size();
}

ReadQueue::Turn ReadQueue::MakeTurn(std::uint32_t uid) {
  return Turn(nullptr, [this, uid](const void*) { End(uid); });
}

// A read that is over as soon as it has begun ends within this very call, and so does the one that
// begins then: such ends are taken from a list, not one within the other.
void ReadQueue::End(std::uint32_t uid) {
  thread_local std::vector<std::pair<ReadQueue*, std::uint32_t>> ended;
  thread_local bool at_it = false;
  ended.emplace_back(this, uid);
  if (std::exchange(at_it, true)) {
    return;
  }
  while (!ended.empty()) {
    const auto [turns, user] = ended.back();
    ended.pop_back();
    turns->BeginNext(user);
  }
  at_it = false;
}

void ReadQueue::BeginNext(std::uint32_t uid) {
  Read next;
  {
    const MutexLock lock(&mutex_);
    const auto user = users_.find(uid);
    if (user->second.waiting.empty()) {
      if (--user->second.running == 0) {
        users_.erase(user);
      }
      return;
    }
    next = std::move(user->second.waiting.front());
    user->second.waiting.pop_front();
  }
  next(MakeTurn(uid));
}

}  // namespace muster::daemon
