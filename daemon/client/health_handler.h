#pragma once

// The calls about the health of nodes.
//
// Thread promise: gRPC's threads call in and never wait; answers come from the store's writer
// thread or, when they are long, from `reader`. Invariants: an answer leaves only when what it says
// is durable.

#include "daemon/access/call.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/store/job_store.h"
#include "proto/controller.pb.h"

namespace muster::daemon {

class HealthHandler {
 public:
  // Everything that is referred to outlives the answers.
  HealthHandler(Controller& controller, JobStore& store, Worker& reader)
      : controller_(controller), store_(store), reader_(reader) {}

  void CheckHealth(const Call& call, const wire::CheckHealthRequest& request,
                   wire::CheckHealthReply* reply);
  void ListHealth(const Call& call, const wire::ListHealthRequest& request,
                  wire::ListHealthReply* reply);

 private:
  Controller& controller_;
  JobStore& store_;
  Worker& reader_;
};

}  // namespace muster::daemon
