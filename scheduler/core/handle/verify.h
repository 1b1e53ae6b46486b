#pragma once

// A plan against the state as it is by now: the last word before a start becomes an event.
//
// Thread promise: owned by one thread, for one plan. Invariants: the starts that one Verifier
// cycles fit together on the state that it was made for.

#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "scheduler/core/place/nodes/node_tree.h"
#include "scheduler/core/policy/limits.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/tables/alternatives.h"
#include "scheduler/core/state/tables/node_use.h"
#include "scheduler/model/machine/network.h"
#include "scheduler/model/plan/plan.h"

namespace muster::core {

class Verifier {
 public:
  // REQUIRES: the state outlives it and does not change meanwhile.
  // `network`: where the state has narrow links; null: there is none.
  explicit Verifier(const ClusterState& state, Time now = kNoTime,
                    const Network* network = nullptr);

  // True when the start still holds; it is then counted against what follows. REQUIRES: the job
  // starts alone.
  bool Accept(const PlannedStart& start) { return AcceptTogether({&start, 1}); }
  // The same of all components of a heterogeneous job: all of them hold or none.
  bool AcceptTogether(std::span<const PlannedStart> starts);
  // True when the attempt is still suspended and its cores are free; they are then its own again
  // for what follows.
  bool AcceptResume(const PlannedResume& resume);
  // True when the victims still run and the job still fits once they are gone; both are then
  // counted against what follows.
  bool AcceptPreemption(const PlannedPreemption& preemption);

 private:
  bool AcceptOne(const PlannedStart& start);
  [[nodiscard]] bool JobWaits(const PlannedStart& start) const;
  [[nodiscard]] bool Fits(const NodeAllocation& part, const NodeUse& use) const;
  // Whether it lies on several nodes of which one takes no such job, or on both sides of a narrow
  // link.
  [[nodiscard]] bool SpansNarrow(const Allocation& allocation) const;
  [[nodiscard]] bool IsThere(const PlannedVictim& victim) const;
  [[nodiscard]] NodeUse UseOf(NodeId node) const;
  // Whether the users of these nodes' jobs, the victims aside, may be together with this one, whose
  // job may want to be `alone` with its user's.
  [[nodiscard]] bool UsersAllow(std::uint32_t user, bool alone, const Allocation& allocation,
                                const std::vector<PlannedVictim>& victims) const;
  // Whether none of these GPUs is used outside of jobs, or the request takes such.
  [[nodiscard]] bool OccupantsAllow(const ResourceRequest& request,
                                    const Allocation& allocation) const;
  // The user has these nodes, too, for what follows.
  void AddUser(std::uint32_t user, bool alone, const Allocation& allocation);
  // Policy lets the job start there, with what it is given.
  bool PolicyAllows(const PlannedStart& start);

  const ClusterState& state_;
  std::vector<NodeId> ids_;               // of all nodes, where a link is narrow
  std::shared_ptr<const NodeTree> tree_;  // over these; null: no link is narrow
  const Time now_;
  CycleUsage usage_;
  std::map<NodeId, NodeUse> use_;
  std::map<NodeId, NodeUsers> users_;  // of what was accepted
  std::set<JobId> accepted_;
  std::set<JobId> victims_;
  std::set<JobId> quarantined_;  // jobs with an attempt that this controller did not start
  std::map<JobId, std::uint32_t> started_of_array_;
};

}  // namespace muster::core
