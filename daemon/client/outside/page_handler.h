#pragma once

// The calls that draw pictures: what jobs used over time, and what the plan keeps free for whom.
//
// Thread promise: gRPC's threads call in and never wait. Invariant: both show what every user may
// see: no program, no address.

#include <string_view>

#include "daemon/access/call.h"
#include "daemon/agents/live_usage.h"
#include "daemon/controller/controller.h"

namespace muster::daemon {

class PageHandler {
 public:
  // What is referred to outlives the answers.
  PageHandler(Controller& controller, const LiveUsage& usage)
      : controller_(controller), usage_(usage) {}

  // `request`: the bytes of a wire::ShowCurveRequest.
  void ShowCurve(const AnyCall& call, std::string_view request) const;
  void ShowPlan(const AnyCall& call) const;

 private:
  Controller& controller_;
  const LiveUsage& usage_;
};

}  // namespace muster::daemon
