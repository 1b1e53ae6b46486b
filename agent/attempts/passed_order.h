#pragma once

// An order for an attempt that runs, on its way through the agent to the attempt's supervisor.
//
// The agent looks at whom the order is for and passes it on as the message that it is: what it asks
// is between the controller and the supervisor, which may both be newer than this agent. Invariant:
// an order of the controller and the supervisor's command for it are fields of the same name and
// type (proto/agent.proto, proto/supervisor.proto).

#include <optional>
#include <string>

#include "agent/attempts/place/attempt_key.h"
#include "proto/agent.pb.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

struct PassedOrder {
  std::string what;  // "step of", for people
  bool starts_step = false;
  bool ends_attempt = false;
  std::optional<std::string> cluster;  // unset: the order names none
  NodeId node;
  AttemptKey key;
  Epoch epoch;
  Time expiry = kNoTime;  // kNoTime: never
  std::string packet;     // a serialised SupervisorCommand
};

// Nothing when the message is no order for an attempt that runs.
std::optional<PassedOrder> PassOn(const wire::ControllerMessage& message);

}  // namespace muster::agent
