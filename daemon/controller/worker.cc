#include "daemon/controller/worker.h"

#include <chrono>

namespace muster::daemon {

Worker::Worker()
    : thread_([this] {
        while (!queue_.closed()) {
          const auto soon = std::chrono::steady_clock::now() + std::chrono::hours(1);
          for (TaskQueue::Task& task : queue_.Take(1, soon)) {
            if (!queue_.closed()) {
              task();
            }
          }
        }
      }) {}

Worker::~Worker() {
  queue_.Close();
}

}  // namespace muster::daemon
