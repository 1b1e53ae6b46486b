#pragma once

// The state of the cluster: the result of all events so far.
//
// Apply is the only writer: it hands its parts to state/apply, which changes them by one event. The
// controller's owner thread holds one; the simulator another; neither shares it. Thread promise:
// none; owned by one thread. Invariants: see state/invariants. They hold after every Apply.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/core/state/apply/alert_table.h"
#include "scheduler/core/state/apply/job_index.h"
#include "scheduler/core/state/apply/narrow_link_table.h"
#include "scheduler/core/state/apply/state_parts.h"
#include "scheduler/core/state/tables/dependency.h"
#include "scheduler/core/state/tables/health_table.h"
#include "scheduler/core/state/tables/job_table.h"
#include "scheduler/core/state/tables/licenses.h"
#include "scheduler/core/state/tables/policy_use_table.h"
#include "scheduler/core/state/tables/usage_table.h"
#include "scheduler/core/state/touched_nodes.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/change/state_image.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/machine/node.h"

namespace muster::core {

class ClusterState {
 public:
  ClusterState() = default;
  // REQUIRES: the image of a state, as the store loads it.
  explicit ClusterState(StateImage image);

  // Brings the state from version v to v + 1. REQUIRES: the event came from Step on this very
  // state.
  void Apply(const Event& event);

  [[nodiscard]] Version version() const { return version_; }
  [[nodiscard]] Epoch epoch() const { return parts_.epoch; }
  [[nodiscard]] JobId next_job() const { return parts_.next_job; }
  [[nodiscard]] const JobTable& jobs() const { return parts_.jobs; }
  [[nodiscard]] const std::map<NodeId, Node>& nodes() const { return parts_.nodes.all(); }
  // Also which of these have quarantined attempts, and the next one's id.
  [[nodiscard]] const NodeTable& node_table() const { return parts_.nodes; }
  // The jobs that wait, that are suspended, that are elastic, but for untouched elements of arrays.
  [[nodiscard]] const JobIndex& index() const { return parts_.index; }

  [[nodiscard]] const DependencyTable& dependencies() const { return parts_.dependencies; }
  [[nodiscard]] const LicenseTable& licenses() const { return parts_.licenses; }
  // Partitions, QOS, accounts, reservations, and what is in use of them.
  [[nodiscard]] const PolicyUseTable& policy() const { return parts_.policy; }
  // The usage of all users, for fairshare.
  [[nodiscard]] const UsageTable& usage() const { return parts_.usage; }
  // What is known of the nodes' health.
  [[nodiscard]] const HealthTable& health() const { return parts_.health; }
  // Which nodes are switched off, and what is known of their boots.
  [[nodiscard]] const PowerTable& power() const { return parts_.power; }
  // The alerts that last.
  [[nodiscard]] const AlertTable& alerts() const { return parts_.alerts; }

  [[nodiscard]] const NarrowLinkTable& narrow_links() const { return parts_.narrow_links; }

  // Null when there is none (any more). What is found is good until the next Apply.
  [[nodiscard]] const Job* FindJob(JobId id) const { return parts_.jobs.Find(id); }
  [[nodiscard]] const Node* FindNode(NodeId id) const { return parts_.nodes.Find(id); }
  [[nodiscard]] const Node* FindNode(const std::string& name) const {
    return parts_.nodes.Find(name);
  }
  // The live jobs that `job` names: itself, or the live elements of the array of that id.
  [[nodiscard]] std::vector<const Job*> FindJobs(JobId job,
                                                 std::optional<std::uint32_t> array_index) const {
    return parts_.jobs.FindAll(job, array_index);
  }
  // What the client's token made; null when it is unknown (or older than the newest 65,536).
  [[nodiscard]] const TokenOwner* FindToken(const std::string& token) const {
    return parts_.tokens.Find(token);
  }
  // The jobs that hold resources on the node.
  [[nodiscard]] std::vector<JobId> JobsOn(NodeId node) const { return parts_.nodes.JobsOn(node); }
  // The nodes that the newest events changed.
  [[nodiscard]] const TouchedNodes& touched() const { return touched_; }

 private:
  Version version_;
  StateParts parts_;
  TouchedNodes touched_;
};

// How many jobs are pending, with the untouched elements.
inline std::size_t WaitingJobs(const ClusterState& state) {
  return state.index().pending().size() + state.jobs().untouched();
}

// True when a cycle could find something to do.
inline bool NeedsCycle(const ClusterState& state) {
  return WaitingJobs(state) > 0 || !state.index().suspended().empty() ||
         !state.index().elastic().empty();
}

}  // namespace muster::core
