#pragma once

// What the node keeps of orders to divide its GPUs: what became of the last one, and where each GPU
// stands among the machine's, so that those in use keep their positions when the agent starts
// again.
//
// One text file in the state directory: the order's number, why it failed, a line for each GPU.
// Thread promise: none. Invariant: a file that is not there, or no such file, is a node that was
// never ordered to divide a GPU.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/mig.h"
#include "scheduler/model/machine/node.h"

namespace muster::agent {

struct DivisionRecord {
  LayoutReport last;
  std::vector<std::string> gpus;  // UUIDs, by position; empty: as they are found
};

// `directory`: the agent's state directory.
DivisionRecord ReadDivision(const std::string& directory);
absl::Status WriteDivision(const std::string& directory, const DivisionRecord& record);

// Why the GPU is not to be touched: an attempt has it, or it is not there; empty: it may be.
std::string WhyNotDivided(const Machine& machine, const std::vector<KnownAttempt>& attempts,
                          const std::string& gpu);

// Carries the order out, unless `refused` says why not, and returns what became of it.
LayoutReport Divide(const Machine& machine, const LayoutOrder& order, const std::string& refused);

}  // namespace muster::agent
