#pragma once

// What the processes of an attempt do on this node, rank by rank, by /proc (proc(5)).
//
// A process is its rank's by the variables that it was started with, as all of its descendants are.
// Read in a child that is the job's user: what a process of the user's holds up there holds up no
// agent. Invariant: only processes that name the job and the attempt count, and no other node than
// this one, for several agents may play nodes on one machine.

#include <string>

#include "agent/attempts/place/attempt_key.h"
#include "proto/agent.pb.h"

namespace muster::agent {

// `cgroup`: the directory of the attempt's control group; without one all of `proc` is looked
// through.
wire::ProcessAnswer ReadRankProcesses(const AttemptKey& key, const std::string& node,
                                      const std::string& cgroup, const std::string& proc = "/proc");

}  // namespace muster::agent
