#pragma once

// One agent from start to end: its state directory, its loop, its signals.
//
// Thread promise: called from main, before other threads. Invariant: ending the agent, however it
// ends, ends no job: supervisors are sessions of their own and are adopted by the next agent.

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/options.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/service/systemd.h"

namespace muster::agent {

// Looks at the machine that the agent stands for.
using MachineFinder = std::function<absl::StatusOr<Machine>()>;

// Serves until SIGTERM or SIGINT, then returns OK. An error says why it could not start, or that
// the controller refuses it for good. SIGHUP reads features and weight again. The machine is looked
// at only when the state directory is ours.
absl::Status RunAgent(const AgentOptions& options, const MachineFinder& find_machine,
                      const ServiceManager& manager, const Clock& clock, const Logger& log);

}  // namespace muster::agent
