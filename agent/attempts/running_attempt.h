#pragma once

// An attempt under way on this node, as the units that measure it need it.
//
// Invariant: `part` lives as long as nothing about attempts changes.

#include <sys/types.h>

#include <string>

#include "scheduler/model/machine/allocation.h"

namespace muster::agent {

struct RunningAttempt {
  const NodeAllocation* part = nullptr;  // of this node
  std::string cgroup = {};               // where its processes are, if they have a group; or empty
  pid_t supervisor = 0;                  // from which they descend
};

}  // namespace muster::agent
