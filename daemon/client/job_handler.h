#pragma once

// The calls that submit jobs and change them.
//
// Thread promise: gRPC's threads call in and never wait; answers come from the store's writer
// thread. Invariants: an answer leaves only when what it says is durable.

#include "daemon/access/call.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/store/accounting.h"
#include "proto/controller.pb.h"

namespace muster::daemon {

class JobHandler {
 public:
  // Everything that is referred to outlives the answers.
  JobHandler(Controller& controller, Accounting& accounting, Worker& reader)
      : controller_(controller), accounting_(accounting), reader_(reader) {}

  void Submit(const Call& call, const wire::SubmitRequest& request, wire::SubmitReply* reply);
  // Each names many jobs and is answered once: when the last of their turns is durable.
  void Cancel(const Call& call, const wire::CancelRequest& request, wire::CancelReply* reply);
  void Hold(const Call& call, const wire::HoldRequest& request, wire::HoldReply* reply);
  void Suspend(const Call& call, const wire::SuspendRequest& request, wire::SuspendReply* reply);
  void Requeue(const Call& call, const wire::RequeueRequest& request, wire::RequeueReply* reply);
  void Update(const Call& call, const wire::UpdateRequest& request, wire::UpdateReply* reply);
  void Signal(const Call& call, const wire::SignalRequest& request, wire::SignalReply* reply);

 private:
  Controller& controller_;
  Accounting& accounting_;
  Worker& reader_;
};

}  // namespace muster::daemon
