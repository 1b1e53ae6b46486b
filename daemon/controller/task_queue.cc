#include "daemon/controller/task_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace muster::daemon {

bool TaskQueue::Push(Task task) {
  const MutexLock lock(&mutex_);
  if (closed_ || tasks_.size() >= kLimit) {
    return false;
  }
  tasks_.push_back(std::move(task));
  ready_.NotifyOne();
  return true;
}

bool TaskQueue::PushOwn(Task task) {
  const MutexLock lock(&mutex_);
  if (closed_) {
    return false;
  }
  tasks_.push_back(std::move(task));
  ready_.NotifyOne();
  return true;
}

bool TaskQueue::PushRefusal(Task refusal) {
  const MutexLock lock(&mutex_);
  if (sealed_) {
    return false;
  }
  refusals_.push_back(std::move(refusal));
  ready_.NotifyOne();
  return true;
}

std::vector<TaskQueue::Task> TaskQueue::TakeLastRefusals() {
  const MutexLock lock(&mutex_);
  sealed_ = refusals_.empty();
  return std::exchange(refusals_, {});
}

std::vector<TaskQueue::Task> TaskQueue::Take(std::size_t most,
                                             std::chrono::steady_clock::time_point deadline) {
  const MutexLock lock(&mutex_);
  for (auto now = std::chrono::steady_clock::now();
       !closed_ && tasks_.empty() && refusals_.empty() && now < deadline;
       now = std::chrono::steady_clock::now()) {
    ready_.WaitFor(&mutex_, deadline - now);
  }
  std::vector<Task> taken;
  if (tasks_.size() <= most) {
    taken.swap(tasks_);
  } else {
    const auto end = tasks_.begin() + static_cast<std::ptrdiff_t>(most);
    taken.assign(std::make_move_iterator(tasks_.begin()), std::make_move_iterator(end));
    tasks_.erase(tasks_.begin(), end);
  }
  taken.insert(taken.end(), std::make_move_iterator(refusals_.begin()),
               std::make_move_iterator(refusals_.end()));
  refusals_.clear();
  return taken;
}

void TaskQueue::Close() {
  const MutexLock lock(&mutex_);
  closed_ = true;
  ready_.NotifyAll();
}

std::size_t TaskQueue::size() const {
  const MutexLock lock(&mutex_);
  return tasks_.size();
}

bool TaskQueue::closed() const {
  const MutexLock lock(&mutex_);
  return closed_;
}

}  // namespace muster::daemon
