#pragma once

// A scenario of the simulator, read from a TOML file.
//
// Invariants: a key that is not there keeps the scenario's default; a key that nobody knows is an
// error.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/simulator/crash/simulator.h"

namespace muster::sim {

// `name` is the file's, without ".toml", in the folder of the scenarios; or a path, with a "/".
absl::StatusOr<Scenario> ReadScenario(const std::string& name);

// The scenario as such a file.
std::string ScenarioText(const Scenario& scenario);

}  // namespace muster::sim
