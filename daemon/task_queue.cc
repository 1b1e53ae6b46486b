#include "daemon/task_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace muster {

bool TaskQueue::Push(Task task) {
  const MutexLock lock(&mutex_);
  if (closed_ || tasks_.size() >= kLimit) {
    return false;
  }
  tasks_.push_back(std::move(task));
  ready_.NotifyOne();
  return true;
}

std::vector<TaskQueue::Task> TaskQueue::Take(std::size_t most,
                                             std::chrono::steady_clock::time_point deadline) {
  const MutexLock lock(&mutex_);
  for (auto now = std::chrono::steady_clock::now(); !closed_ && tasks_.empty() && now < deadline;
       now = std::chrono::steady_clock::now()) {
    ready_.WaitFor(&mutex_, deadline - now);
  }
  if (tasks_.size() <= most) {
    return std::exchange(tasks_, {});
  }
  const auto end = tasks_.begin() + static_cast<std::ptrdiff_t>(most);
  std::vector<Task> taken(std::make_move_iterator(tasks_.begin()), std::make_move_iterator(end));
  tasks_.erase(tasks_.begin(), end);
  return taken;
}

void TaskQueue::Close() {
  const MutexLock lock(&mutex_);
  closed_ = true;
  ready_.NotifyAll();
}

bool TaskQueue::closed() const {
  const MutexLock lock(&mutex_);
  return closed_;
}

}  // namespace muster
