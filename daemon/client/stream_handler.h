#pragma once

// Streams: many submissions over one connection, and watching a job.
//
// Thread promise: gRPC's threads call in and never wait; answers come from the store's writer
// thread or from `reader`. Invariants: answers to submissions go back in their order; a stream of a
// caller that is refused ends with the reason.

#include <grpcpp/grpcpp.h>

#include "absl/status/statusor.h"
#include "daemon/access/access.h"
#include "daemon/access/gate.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/store/accounting.h"
#include "proto/controller.pb.h"

namespace muster::daemon {

class StreamHandler {
 public:
  // Everything that is referred to outlives the answers.
  StreamHandler(Controller& controller, Accounting& accounting, Worker& reader, const Gate& gate)
      : controller_(controller), accounting_(accounting), reader_(reader), gate_(gate) {}

  using Submissions = grpc::ServerBidiReactor<wire::SubmitRequest, wire::SubmitReply>;
  using Views = grpc::ServerWriteReactor<wire::WatchJobReply>;
  // `caller`: as the gate admitted it.
  Submissions* SubmitMany(absl::StatusOr<Caller> caller);
  Views* WatchJob(const absl::StatusOr<Caller>& caller, JobId job);

 private:
  Controller& controller_;
  Accounting& accounting_;
  Worker& reader_;
  const Gate& gate_;
};

}  // namespace muster::daemon
