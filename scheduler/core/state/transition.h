#pragma once

// What a command does to the state: events to persist, effects to perform once they are durable,
// and the answer.
//
// Invariants: a refusal has neither events nor effects; only ClusterState::Apply writes the state.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/change/effect.h"
#include "scheduler/model/change/event.h"

namespace muster::core {

struct Transition {
  absl::Status status;  // why the command was refused; one line for the user
  std::vector<Event> events;
  std::vector<Effect> effects;  // to perform once the events are durable
  JobId job;                    // SubmitJob, StartStep, AttachStep: the answer
  StepId step;                  // StartStep, AttachStep: the answer
  Allocation placement;         // StartStep, AttachStep: where its ranks are; empty: nowhere yet
  std::string waits;            // StartStep: what it waits for; empty: nothing
  NodeId node;                  // RegisterAgent: the answer
  std::string remark;           // SubmitJob: why it can never start here; empty: it can
  std::uint32_t count = 0;      // CancelJob, HoldJob, SignalJob: how many jobs it reached
};

// A transition that refuses its command: neither events nor effects.
Transition Refused(absl::Status status);

}  // namespace muster::core
