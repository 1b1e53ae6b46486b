#include "agent/node/sample_timer.h"

#include <algorithm>

namespace muster::agent {

void SampleTimer::Next(std::chrono::milliseconds wait) {
  taken_ = clock_.SteadyNow();
  Set(taken_ + wait);
}

void SampleTimer::Soon() {
  const SteadyTime soon = std::max(taken_ + least_, clock_.SteadyNow());
  if (soon < due_) {
    Set(soon);
  }
}

void SampleTimer::Set(SteadyTime due) {
  loop_.Cancel(timer_);
  due_ = due;
  const std::chrono::nanoseconds wait = due - clock_.SteadyNow();
  timer_ = loop_.RunAfter(std::max(wait, std::chrono::nanoseconds(0)), sample_);
}

}  // namespace muster::agent
