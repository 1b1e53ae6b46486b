#pragma once

// The calls about tuned kernels.
//
// Thread promise: gRPC's threads call in and never wait; answers come from the store's writer
// thread or, when they are long, from `reader`. Invariants: a tuning that was taken is durable.

#include "daemon/access/call.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/store/job_store.h"
#include "proto/controller.pb.h"

namespace muster::daemon {

class TuningHandler {
 public:
  // Everything that is referred to outlives the answers.
  TuningHandler(Controller& controller, JobStore& store, Worker& reader)
      : controller_(controller), store_(store), reader_(reader) {}

  void PutTuning(const Call& call, const wire::PutTuningRequest& request,
                 wire::PutTuningReply* reply);
  void ListTunings(const Call& call, const wire::ListTuningsRequest& request,
                   wire::ListTuningsReply* reply);

 private:
  Controller& controller_;
  JobStore& store_;
  Worker& reader_;
};

}  // namespace muster::daemon
