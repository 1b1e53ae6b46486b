#pragma once

// Nodes of a simulated cluster that are switched off while nobody needs them: --power
// idle=10m,suspend=30s,boot=2m,busy-watts=350,idle-watts=150,off-watts=10,keep-on=2.
//
// An error names the option.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "scheduler/model/settings/power_class.h"
#include "scheduler/simulator/cluster/cluster_run.h"

namespace muster::cli {

Option PowerOption();

// One class, of all nodes.
absl::StatusOr<PowerClass> ParsePower(const std::string& text);

// The option, and whether it goes with the rest. REQUIRES: the policy of `run` is final.
absl::Status ReadPowerOption(const Invocation& invocation, sim::ClusterRun* run);
// Refuses the option where there is no cluster.
absl::Status RefusePowerOption(const Invocation& invocation);

}  // namespace muster::cli
