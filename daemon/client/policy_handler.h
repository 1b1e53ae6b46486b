#pragma once

// The calls that change policy, and show it and the shares that follow from it.
//
// Thread promise: gRPC's threads call in and never wait; answers come from the store's writer
// thread or, when they are long, from `reader`. Invariants: an answer leaves only when what it says
// is durable.

#include "daemon/access/call.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/store/accounting.h"
#include "daemon/store/job_store.h"
#include "proto/controller.pb.h"

namespace muster::daemon {

class PolicyHandler {
 public:
  // Everything that is referred to outlives the answers.
  PolicyHandler(Controller& controller, Accounting& accounting, JobStore& store, Worker& reader)
      : controller_(controller), accounting_(accounting), store_(store), reader_(reader) {}

  void ChangePolicy(const Call& call, const wire::ChangePolicyRequest& request,
                    wire::ChangePolicyReply* reply);
  void ListPolicy(const Call& call, const wire::ListPolicyRequest& request,
                  wire::ListPolicyReply* reply);
  void PolicyHistory(const Call& call, const wire::PolicyHistoryRequest& request,
                     wire::PolicyHistoryReply* reply);
  void ListShares(const Call& call, const wire::ListSharesRequest& request,
                  wire::ListSharesReply* reply);

 private:
  Controller& controller_;
  Accounting& accounting_;
  JobStore& store_;
  Worker& reader_;
};

}  // namespace muster::daemon
