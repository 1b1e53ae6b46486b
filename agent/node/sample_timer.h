#pragma once

// When the agent takes its next sample of what attempts use: in a while, or sooner where something
// begins that a sample should tell from what was before.
//
// Thread promise: the loop's thread. Invariants: one sample is due at any time after the first
// Next; two are never less than the given least apart, however often one is wanted soon.

#include <chrono>
#include <functional>
#include <utility>

#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"

namespace muster::agent {

class SampleTimer {
 public:
  // Both outlive the timer, which calls `sample` each time that one is due; that calls Next.
  SampleTimer(EventLoop& loop, const Clock& clock, std::chrono::milliseconds least,
              std::function<void()> sample)
      : loop_(loop), clock_(clock), least_(least), sample_(std::move(sample)) {}
  SampleTimer(const SampleTimer&) = delete;
  SampleTimer& operator=(const SampleTimer&) = delete;
  ~SampleTimer() { loop_.Cancel(timer_); }

  // One was taken now, the next is due in `wait`.
  void Next(std::chrono::milliseconds wait);
  // The next is due as soon as the least allows, if it was not sooner.
  void Soon();

 private:
  void Set(SteadyTime due);

  EventLoop& loop_;
  const Clock& clock_;
  const std::chrono::milliseconds least_;
  const std::function<void()> sample_;
  EventLoop::TimerId timer_{};
  SteadyTime taken_{};
  SteadyTime due_{};
};

}  // namespace muster::agent
