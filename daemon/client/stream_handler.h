#pragma once

// Streams: many submissions over one connection, and watching a job.
//
// Thread promise: gRPC's threads call in and never wait; answers come from the store's writer
// thread or from `reader`. Invariants: answers to submissions go back in their order; a stream of a
// caller that is refused ends with the reason; whoever watches a job and may call no more is found
// within kLookEvery, whether the job changes or not.

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/access/access.h"
#include "daemon/access/gate.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/store/accounting.h"
#include "proto/controller.pb.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class StreamHandler {
 public:
  // Everything that is referred to outlives the answers.
  StreamHandler(Controller& controller, Accounting& accounting, Worker& reader, const Gate& gate);
  StreamHandler(const StreamHandler&) = delete;
  StreamHandler& operator=(const StreamHandler&) = delete;
  ~StreamHandler();

  using Submissions = grpc::ServerBidiReactor<wire::SubmitRequest, wire::SubmitReply>;
  using Views = grpc::ServerWriteReactor<wire::WatchJobReply>;
  // `caller`: as the gate admitted it.
  Submissions* SubmitMany(absl::StatusOr<Caller> caller);
  Views* WatchJob(const absl::StatusOr<Caller>& caller, JobId job);

 private:
  static constexpr std::chrono::milliseconds kLookEvery{500};
  // Looks whether a watcher may still; false: it has gone.
  using Look = std::function<bool()>;
  void Run();

  Controller& controller_;
  Accounting& accounting_;
  Worker& reader_;
  const Gate& gate_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Look> looks_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace muster::daemon
