#pragma once

// The settings of a simulated flat cluster by name, as `muster whatif` reads and changes them.
//
// Keys: processors, or nodes and cpus_per_node; policy, backfill, backfill_order, estimates,
// instant, filter, with the values of the options of muster simulate.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/simulator/flat/flat_simulation.h"

namespace muster::cli {

struct WhatifSettings {
  std::int64_t nodes = 0;          // 0: what the trace says
  std::int64_t cpus_per_node = 0;  // 0: what the trace says, else 1
  std::int64_t processors = 0;     // 0: nodes x cpus_per_node
  std::string policy = "easy";
  std::string backfill;  // empty: the policy's own; so is the next
  std::string backfill_order;
  std::string estimates = "requested";
  std::string instant = "ends-first";
  std::string filter = "plain";
};

// A TOML file with these keys; an error names file and line.
absl::StatusOr<WhatifSettings> ReadWhatifFile(const std::string& path);

// What is open is filled in from the trace's header: MaxNodes and MaxProcs.
absl::Status CompleteSettings(const sim::TraceHeader& header, WhatifSettings* settings);

// "KEY=VALUE", "KEY+=N", "KEY-=N", "KEY*=N"; several between commas. InvalidArgument says which
// keys there are.
absl::Status ApplyChange(const std::string& change, WhatifSettings* settings);

// The policy and the number of processors. InvalidArgument for a value that is none.
absl::Status FillRun(const WhatifSettings& settings, sim::FlatRun* run);

}  // namespace muster::cli
