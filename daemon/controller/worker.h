#pragma once

// One background thread that runs closures in order: planning, or long answers.
//
// Thread promise: Run from any thread. Invariants: closures run one at a time, in order; the
// destructor drops those that have not begun and joins.

#include <thread>
#include <utility>

#include "daemon/controller/task_queue.h"

namespace muster::daemon {

class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // False when the worker ends or has too much to do: the code that waits for the closure must
  // learn that.
  [[nodiscard]] bool Run(TaskQueue::Task task) { return queue_.Push(std::move(task)); }

 private:
  TaskQueue queue_;
  std::jthread thread_;
};

}  // namespace muster::daemon
