#pragma once

// One turn of the scheduler: an input comes in, events to persist and effects to perform come out.
//
// The controller's loop and the simulator's are short loops round this function: step, apply the
// events, make them durable, perform the effects. Thread promise: pure. Invariants: (1) the events
// apply to the very state that was given, in order; (2) a refused input makes neither events nor
// effects; (3) a repeated input has one effect: retries by the client's token, reports by their
// number.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/core/cluster_state.h"
#include "scheduler/model/effect.h"
#include "scheduler/model/event.h"
#include "scheduler/model/input.h"
#include "scheduler/model/policy_config.h"

namespace muster {

struct Turn {
  absl::Status status;  // why the input was refused; one line for the user
  std::vector<Event> events;
  std::vector<Effect> effects;  // to perform once the events are durable
  JobId job;                    // SubmitJob, StartStep, AttachStep: the answer
  StepId step;                  // StartStep, AttachStep: the answer
  Allocation placement;         // StartStep, AttachStep: where its ranks are; empty: nowhere yet
  std::string waits;            // StartStep: what it waits for; empty: nothing
  NodeId node;                  // RegisterAgent: the answer
  std::uint32_t count = 0;      // CancelJob, HoldJob, SignalJob: how many jobs it reached
};

Turn Step(const ClusterState& state, const Input& input, Time now, const PolicyConfig& config);

}  // namespace muster
