#pragma once

// The one way into the controller's thread: closures, in order, from any thread.
//
// Thread promise: Push and Close from any thread; Take only from the owner. Invariants: (1)
// closures come out in the order in which they went in; (2) after Close nothing goes in.

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "scheduler/runtime/mutex.h"

namespace muster {

class TaskQueue {
 public:
  using Task = std::function<void()>;

  // False when the queue is closed, or holds `limit` tasks already: the caller refuses its request.
  bool Push(Task task);
  // Waits for work until `deadline`; gives what is there, at most `most`. Empty at the deadline or
  // at the end.
  std::vector<Task> Take(std::size_t most, std::chrono::steady_clock::time_point deadline);
  void Close();
  [[nodiscard]] bool closed() const;

 private:
  static constexpr std::size_t kLimit = 100'000;
  mutable Mutex mutex_;
  CondVar ready_;
  std::vector<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace muster
