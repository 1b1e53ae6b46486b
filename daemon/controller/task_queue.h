#pragma once

// The one way into the controller's thread: closures, in order, from any thread.
//
// Thread promise: Push, PushOwn, PushRefusal and Close from any thread; Take and TakeLastRefusals
// only from the owner. Invariants: (1) closures come out in the order in which they went in; (2)
// after Close nothing goes in but refusals; (3) a refusal is taken by the owner, or was never
// accepted: so every answer, also that there is no room, comes from one thread.

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class TaskQueue {
 public:
  using Task = std::function<void()>;
  static constexpr std::size_t kLimit = 100'000;

  // False when the queue is closed, or holds kLimit tasks already: the caller refuses its request.
  [[nodiscard]] bool Push(Task task);
  // Past the limit: what the owner's own workers have to tell it. False when the queue is closed.
  bool PushOwn(Task task);
  // Past the limit, and after Close: tells a caller that Push had no room. False only after
  // TakeLastRefusals has found none.
  [[nodiscard]] bool PushRefusal(Task refusal);
  // Waits for work until `deadline`; gives what is there, at most `most`, and all refusals. Empty
  // at the deadline or at the end.
  std::vector<Task> Take(std::size_t most, std::chrono::steady_clock::time_point deadline);
  // The refusals since the last Take. When there are none, PushRefusal takes no more.
  std::vector<Task> TakeLastRefusals();
  void Close();
  [[nodiscard]] bool closed() const;
  // How many tasks wait.
  [[nodiscard]] std::size_t size() const;

 private:
  mutable Mutex mutex_;
  CondVar ready_;
  std::vector<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::vector<Task> refusals_ ABSL_GUARDED_BY(mutex_);
  bool sealed_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace muster::daemon
