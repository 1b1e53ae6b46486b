#pragma once

// The calls that draw pictures: what jobs used over time, and what the plan keeps free for whom.
//
// Thread promise: gRPC's threads call in and never wait. Invariant: both show what every user may
// see: no program, no address.

#include "daemon/access/call.h"
#include "daemon/agents/live_usage.h"
#include "daemon/controller/controller.h"
#include "proto/controller.pb.h"

namespace muster::daemon {

class PageHandler {
 public:
  // What is referred to outlives the answers.
  PageHandler(Controller& controller, const LiveUsage& usage)
      : controller_(controller), usage_(usage) {}

  void ShowCurve(const Call& call, const wire::ShowCurveRequest& request,
                 wire::ShowCurveReply* reply);
  void ShowPlan(const Call& call, const wire::ShowPlanRequest& request, wire::ShowPlanReply* reply);

 private:
  Controller& controller_;
  const LiveUsage& usage_;
};

}  // namespace muster::daemon
