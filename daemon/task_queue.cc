#include "daemon/task_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/time/time.h"

namespace muster {

bool TaskQueue::Push(Task task) {
  const absl::MutexLock lock(&mutex_);
  if (closed_ || tasks_.size() >= kLimit) {
    return false;
  }
  tasks_.push_back(std::move(task));
  return true;
}

std::vector<TaskQueue::Task> TaskQueue::Take(std::size_t most,
                                             std::chrono::steady_clock::time_point deadline) {
  const auto wait = std::max(deadline - std::chrono::steady_clock::now(),
                             std::chrono::steady_clock::duration::zero());
  const absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(this, &TaskQueue::Ready), absl::FromChrono(wait));
  if (tasks_.size() <= most) {
    return std::exchange(tasks_, {});
  }
  const auto end = tasks_.begin() + static_cast<std::ptrdiff_t>(most);
  std::vector<Task> taken(std::make_move_iterator(tasks_.begin()), std::make_move_iterator(end));
  tasks_.erase(tasks_.begin(), end);
  return taken;
}

void TaskQueue::Close() {
  const absl::MutexLock lock(&mutex_);
  closed_ = true;
}

bool TaskQueue::closed() const {
  const absl::MutexLock lock(&mutex_);
  return closed_;
}

}  // namespace muster
