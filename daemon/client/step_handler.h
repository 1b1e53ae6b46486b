#pragma once

// The calls about steps of running jobs.
//
// Thread promise: gRPC's threads call in and never wait; answers come from the store's writer
// thread. Invariants: an answer leaves only when what it says is durable.

#include "daemon/access/call.h"
#include "daemon/controller/controller.h"
#include "proto/controller.pb.h"

namespace muster::daemon {

class StepHandler {
 public:
  // Everything that is referred to outlives the answers.
  explicit StepHandler(Controller& controller) : controller_(controller) {}

  void StartStep(const Call& call, const wire::StartStepRequest& request,
                 wire::StartStepReply* reply);
  void Attach(const Call& call, const wire::AttachRequest& request, wire::AttachReply* reply);

 private:
  Controller& controller_;
};

}  // namespace muster::daemon
