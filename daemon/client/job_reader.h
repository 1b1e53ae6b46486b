#pragma once

// The calls that show jobs, explain them and forecast their start.
//
// Thread promise: gRPC's threads call in and never wait; answers come from the store's writer
// thread or, when they are long, from `reader`. Invariants: nothing is changed; a job that ends
// meanwhile is in the answer, as a live or as an ended one.

#include "daemon/access/call.h"
#include "daemon/agents/live_usage.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/store/accounting.h"
#include "daemon/store/job_store.h"
#include "proto/controller.pb.h"

namespace muster::daemon {

class JobReader {
 public:
  // Everything that is referred to outlives the answers.
  JobReader(Controller& controller, Accounting& accounting, JobStore& store, const LiveUsage& usage,
            Worker& reader)
      : controller_(controller),
        accounting_(accounting),
        store_(store),
        usage_(usage),
        reader_(reader) {}

  void ListJobs(const Call& call, const wire::ListJobsRequest& request, wire::ListJobsReply* reply);
  void ListHistory(const Call& call, const wire::ListHistoryRequest& request,
                   wire::ListJobsReply* reply);
  void ShowJob(const Call& call, const wire::ShowJobRequest& request, wire::ShowJobReply* reply);
  void Explain(const Call& call, const wire::ExplainRequest& request, wire::ExplainReply* reply);
  void TestSubmit(const Call& call, const wire::SubmitRequest& request,
                  wire::TestSubmitReply* reply);

 private:
  grpc::Status ExplainEnded(const wire::JobSelector& selector, wire::ExplainReply& reply);

  Controller& controller_;
  Accounting& accounting_;
  JobStore& store_;
  const LiveUsage& usage_;
  Worker& reader_;
};

}  // namespace muster::daemon
