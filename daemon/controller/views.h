#pragma once

// From the state to what the reading verbs show.
//
// Thread promise: pure; called on the controller's thread. Invariants: a view of an ended job
// equals the view of it just before, but for its state, end and exit.

#include <string>
#include <vector>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/view/view.h"

namespace muster::daemon {

// `reason` may be null: no cycle has looked at the job.
JobView ViewOf(const Job& job, const Reason* reason);
// The job as it is once `end` has happened to it.
JobView ViewOf(const Job& job, const JobEnded& end);
// The attempt under way; its end as the node that decides says, once they all ended.
AttemptView ViewOf(const core::ClusterState& state, const Job& job, Time end);
// What the attempt under way holds; not what it used.
AttemptUse UseOf(const Attempt& attempt, Time now);
// What a job's detail says of what was asked, whether it lives or has ended.
void AddAsked(const JobSpec& spec, JobDetail& detail);
// The node's name, state and health, and why it is drained.
NodeView StatusOf(const core::ClusterState& state, const Node& node);
NodeView ViewOf(const core::ClusterState& state, const Node& node, bool with_machine);

// "verified 2/2", "1/2 verified; rank 1 on node2 differs: …", "not enforced (the agent plays …)",
// "".
std::string BindingText(const Attempt& attempt);

}  // namespace muster::daemon
