#include "daemon/access/read_turns.h"

#include <utility>

namespace muster {

bool ReadTurns::Take(std::uint32_t uid, Read read) {
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

std::size_t ReadTurns::Waiting(std::uint32_t uid) const {
  const MutexLock lock(&mutex_);
  const auto user = users_.find(uid);
  return user == users_.end() ? 0 : user->second.waiting.size();
}

ReadTurns::Turn ReadTurns::MakeTurn(std::uint32_t uid) {
  return Turn(nullptr, [this, uid](const void*) { End(uid); });
}

void ReadTurns::End(std::uint32_t uid) {
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

}  // namespace muster
