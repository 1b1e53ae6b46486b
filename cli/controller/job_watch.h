#pragma once

// Follows one job and tells its news on an EventLoop.
//
// They come over a descriptor that the loop waits for, or else, over gRPC, from a thread of its
// own. Survives restarts of the controller: the stream is opened again until the job has ended.
// Thread promise: made and destroyed on the loop's thread; `tell` and `failed` run there, never
// before the constructor has returned. Invariants: after the job's terminal news no more news
// comes; the destructor waits for the thread.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "absl/status/status.h"
#include "cli/controller/connection.h"
#include "scheduler/runtime/event_loop.h"

namespace muster::cli {

class JobWatch {
 public:
  // `failed` hears of a refusal (no such job); going away is not one.
  JobWatch(Connection& connection, JobId job, EventLoop& loop,
           std::function<void(const JobNews&)> tell, std::function<void(absl::Status)> failed);
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;
  ~JobWatch();

 private:
  void Open();
  void Read();
  void OpenAgain();
  void Tell(const JobNews& news);
  void Fail(const absl::Status& status);
  void Close();
  void StartThread();
  void Follow();
  void PostIfAlive(EventLoop::Closure closure);

  Connection& connection_;
  const JobId job_;
  EventLoop& loop_;
  const std::function<void(const JobNews&)> tell_;
  const std::function<void(absl::Status)> failed_;
  const std::shared_ptr<int> alive_ = std::make_shared<int>();
  std::unique_ptr<JobStream> stream_;
  std::optional<EventLoop::TimerId> again_;
  std::chrono::milliseconds pause_;
  bool over_ = false;  // no more news comes
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

// Blocks until `job` has ended, through restarts of the controller; returns its last view.
absl::StatusOr<JobView> WaitForEnd(Connection& connection, JobId job);

// What a shell should see of an ended job: its exit code, 128 + signal, or 1 when it did not get so
// far.
int ExitCodeOf(const JobView& job);

}  // namespace muster::cli
