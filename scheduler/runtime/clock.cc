#include "scheduler/runtime/clock.h"

#include <time.h>

#include "scheduler/base/status.h"

namespace muster {
namespace {

std::chrono::nanoseconds Read(clockid_t id) {
  timespec now = {};
  MUSTER_CHECK(clock_gettime(id, &now) == 0);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

Time SystemClock::Now() const {
  return Time(std::chrono::floor<std::chrono::milliseconds>(Read(CLOCK_REALTIME)));
}

SteadyTime SystemClock::SteadyNow() const {
  return SteadyTime(Read(CLOCK_BOOTTIME));
}

Time ManualClock::Now() const {
  MutexLock lock(&mutex_);
  return now_;
}

SteadyTime ManualClock::SteadyNow() const {
  MutexLock lock(&mutex_);
  return steady_;
}

void ManualClock::Advance(std::chrono::milliseconds step) {
  MUSTER_CHECK(step.count() >= 0);
  MutexLock lock(&mutex_);
  now_ += step;
  steady_ += step;
}

void ManualClock::SetWall(Time now) {
  MutexLock lock(&mutex_);
  now_ = now;
}

}  // namespace muster
