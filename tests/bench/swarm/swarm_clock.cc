#include "tests/bench/swarm/swarm_clock.h"

#include <utility>

namespace muster::swarm {

void SwarmClock::At(Moment moment, std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  const bool first = calls_.empty() || moment < calls_.begin()->first;
  calls_.emplace(moment, std::move(call));
  if (first) {
    changed_.notify_one();
  }
}

void SwarmClock::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void SwarmClock::Run() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (calls_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const Moment next = calls_.begin()->first;
    if (std::chrono::steady_clock::now() < next) {
      changed_.wait_until(lock, next);
      continue;
    }
    const std::function<void()> call = std::move(calls_.begin()->second);
    calls_.erase(calls_.begin());
    lock.unlock();
    call();
    lock.lock();
  }
}

}  // namespace muster::swarm
