#pragma once

// Takes an attempt's processes off their cores for a while, and lets them run again.
//
// By the attempt's cgroup where it has one that the kernel can freeze; else by SIGSTOP to every
// process below the supervisor, again until two looks in a row find all of them stopped (what a
// process forked just before it stopped is seen at the second). Thread promise: the loop's thread.
// Invariants: (1) `done` is called at most once for each Freeze(), not after Thaw(), and only once
// nothing of the attempt can run; (2) Thaw() undoes a Freeze() that is under way, too.

#include <chrono>
#include <functional>
#include <memory>

#include "agent/supervisor/limits/cgroup.h"
#include "scheduler/runtime/event_loop.h"

namespace muster::agent {

class Freezer {
 public:
  explicit Freezer(EventLoop& loop) : loop_(loop) {}
  Freezer(const Freezer&) = delete;
  Freezer& operator=(const Freezer&) = delete;

  // `cgroup` is null where the attempt has none.
  void Freeze(const AttemptCgroup* cgroup, std::function<void()> done);
  // Signals sent meanwhile arrive now.
  void Thaw();

 private:
  void ThawCgroup();
  void Look();
  [[nodiscard]] bool AllStopped();

  EventLoop& loop_;
  const AttemptCgroup* cgroup_ = nullptr;
  std::function<void()> done_;  // empty: nothing is to be frozen, or all is
  std::chrono::milliseconds wait_{1};
  int stopped_looks_ = 0;
  bool frozen_ = false;
  bool by_cgroup_ = false;
  std::uint64_t turn_ = 0;  // tells an outdated look
};

}  // namespace muster::agent
