#pragma once

// A machine in one line, for logs.

#include <string>

#include "scheduler/model/machine/machine.h"

namespace muster::topology {

// "2 packages, 4 NUMA nodes, 64 cores, 128 threads, 8 × NVIDIA H200, 512 GiB".
std::string DescribeMachine(const Machine& machine);

}  // namespace muster::topology
