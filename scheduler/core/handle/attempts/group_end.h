#pragma once

// How jobs end by what their nodes report: a plain job with its last node, the components of a
// heterogeneous one together.
//
// One transition may take in several facts of one group, so what the facts before did is kept here.
// Thread promise: owned by one transition. Invariants: (1) the events of a transition apply in
// order; (2) the components of a group end, or go back to the queue, in one transition.

#include <map>
#include <vector>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"

namespace muster::core {

class TransitionJobs {
 public:
  // REQUIRES: the state outlives it and does not change meanwhile.
  explicit TransitionJobs(const ClusterState& state) : state_(state) {}

  // The job as the transition's events so far leave it. REQUIRES: it is in the state.
  [[nodiscard]] const Job& Look(JobId id);
  // Takes a fact in: the event, and what follows when the job's part on the node, the job or its
  // group is over. REQUIRES: the job has the attempt on the node.
  void TakeFact(JobId id, NodeId node, const Report& report, Time now, Transition& transition);

 private:
  std::vector<Job*> Edit(const Job& job);
  // Copies the job, with what was put off, unless that was done before.
  Job& Copy(const Job& job);
  void TellToEnd(Job& job, Time now, Transition& transition) const;

  const ClusterState& state_;
  struct Fact {
    NodeId node;
    Report report;
  };
  std::map<JobId, Job> changed_;
  // Of jobs that are in no group and not in changed_: an end on one of several nodes, from which
  // nothing follows. A job of a thousand nodes is so not copied a thousand times.
  std::map<JobId, Fact> put_off_;
};

}  // namespace muster::core
