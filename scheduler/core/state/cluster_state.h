#pragma once

// The state of the cluster: what the events so far amount to.
//
// Apply is the only writer. The controller's owner thread holds one; the simulator another; neither
// shares it. Thread promise: none; owned by one thread. Invariants: see core/invariants. They hold
// after every Apply.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/core/state/books/dependency.h"
#include "scheduler/core/state/books/health_book.h"
#include "scheduler/core/state/books/job_table.h"
#include "scheduler/core/state/books/licenses.h"
#include "scheduler/core/state/books/policy_ledger.h"
#include "scheduler/core/state/books/usage_ledger.h"
#include "scheduler/model/change/effect.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/change/state_image.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/machine/node.h"

namespace muster {

// Of an attempt: it comes with its launch orders.
inline constexpr std::uint32_t kFirstAdvice = 1;

class ClusterState {
 public:
  ClusterState() = default;
  // REQUIRES: the image of a state, as the store loads it.
  explicit ClusterState(StateImage image);

  // Brings the state from version v to v + 1. REQUIRES: the event came from Step on this very
  // state.
  void Apply(const Event& event);

  [[nodiscard]] Version version() const { return version_; }
  [[nodiscard]] Epoch epoch() const { return epoch_; }
  [[nodiscard]] JobId next_job() const { return next_job_; }
  [[nodiscard]] NodeId next_node() const { return next_node_; }
  [[nodiscard]] const JobTable& jobs() const { return jobs_; }
  [[nodiscard]] const std::map<NodeId, Node>& nodes() const { return nodes_; }
  // The pending jobs: those that are kept by themselves, and how many there are with the untouched.
  [[nodiscard]] const std::set<JobId>& pending() const { return pending_; }
  [[nodiscard]] std::size_t waiting() const { return pending_.size() + jobs_.untouched(); }
  // The jobs that are SUSPENDED.
  [[nodiscard]] const std::set<JobId>& suspended() const { return suspended_; }
  // The elastic jobs that hold resources.
  [[nodiscard]] const std::set<JobId>& elastic() const { return elastic_; }
  // True when a pass could find something to do.
  [[nodiscard]] bool needs_passes() const {
    return waiting() > 0 || !suspended_.empty() || !elastic_.empty();
  }
  // Elements of arrays with a throttle that hold resources, by submission.
  [[nodiscard]] const std::map<JobId, std::uint32_t>& array_running() const {
    return array_running_;
  }

  [[nodiscard]] const DependencyBook& dependencies() const { return dependencies_; }
  [[nodiscard]] const LicenseBook& licenses() const { return licenses_; }
  // Partitions, QOS, accounts, reservations, and what is in use of them.
  [[nodiscard]] const PolicyLedger& policy() const { return policy_; }

  // The usage of all users, for fairshare.
  [[nodiscard]] const UsageLedger& usage() const { return usage_; }

  // What is known of the nodes' health.
  [[nodiscard]] const HealthBook& health() const { return health_; }

  // Null when there is none (any more). What is found is good until the next Apply.
  [[nodiscard]] const Job* FindJob(JobId id) const;
  [[nodiscard]] const Node* FindNode(NodeId id) const;
  [[nodiscard]] const Node* FindNode(const std::string& name) const;
  // The live jobs that `job` names: itself, or the live elements of the array of that id.
  [[nodiscard]] std::vector<const Job*> FindJobs(JobId job,
                                                 std::optional<std::uint32_t> array_index) const {
    return jobs_.FindAll(job, array_index);
  }
  // Calls visit(job, count) for those in the order of ids: count 1, or that of the untouched
  // elements of an array of which the job is the first.
  template <class Visitor>
  void ForEachOf(JobId job, Visitor&& visit) const {
    jobs_.ForEachOf(job, std::forward<Visitor>(visit));
  }
  // What the client's token made; null when it is unknown (or older than the newest 65,536).
  [[nodiscard]] const TokenOwner* FindToken(const std::string& token) const;
  // The version at which the node, or a job that holds some of it, last changed, or a later one.
  [[nodiscard]] Version TouchedAt(NodeId node) const {
    return node.value() < touched_.size() ? std::max(touched_[node.value()], all_touched_)
                                          : all_touched_;
  }
  // Adds the nodes of which TouchedAt is later than `since`, in no order and perhaps twice. False
  // when so far back is not known: any node may be.
  [[nodiscard]] bool AppendTouched(Version since, std::vector<NodeId>& nodes) const;
  // Nodes with quarantined attempts; perhaps some that have none any more.
  [[nodiscard]] const std::set<NodeId>& quarantining() const { return quarantining_; }
  // The jobs that hold resources on the node.
  [[nodiscard]] std::vector<JobId> JobsOn(NodeId node) const;

  // What should be under way for the job, on every node of it: idempotent orders. This is all the
  // recovery that there is.
  [[nodiscard]] std::vector<Effect> ActionsFor(const Job& job) const;

 private:
  void On(const EpochBegan& event);
  void On(const JobSubmitted& event);
  void On(const JobHeld& event);
  void On(const AttemptStarted& event);
  void On(const RunReported& event);
  void On(const AttemptEnding& event);
  void On(const StepStarted& event);
  void On(const StepQueued& event);
  void On(const StepDropped& event);
  void On(const AttemptAdvised& event);
  void On(const JobEnded& event);
  void EndUntouched(const JobEnded& event);
  void On(const NodeRegistered& event);
  void On(const NodeLost& event);
  void On(const NodeDrained& event);
  void On(const AttemptQuarantined& event);
  void On(const JobRequeued& event);
  void On(const JobUpdated& event);
  void On(const PolicyChanged& event);
  void On(const HalfLifeSet& event);
  void On(const AttemptSuspending& event);
  void On(const AttemptSuspended& event);
  void On(const AttemptResumed& event);
  void On(const HealthCheckOrdered& event);
  void On(const HealthCheckWanted& event);
  void On(const HealthChecked& event);
  void NoteRunEnd(const Attempt& attempt, const RunReported& event);

  static void SetSpec(Job& job, JobSpec spec);
  Job& MustJob(JobId id);
  Attempt& MustAttempt(JobId id, AttemptNumber number);
  Node& MustNode(NodeId id);
  void Change(Job& job, JobChange change, JobState to);
  void Take(const Job& job, const Allocation& allocation);
  void NoteHolder(const Job& job, const Allocation& allocation);
  void Free(const Job& job, const Allocation& allocation);
  // Who waits for whom, out of the live jobs and what is known of the ended ones.
  void ResolveDependencies(const std::vector<TargetHistory>& history);
  // What is taken of the node, from its jobs and its quarantined attempts.
  [[nodiscard]] NodeUse UseOf(const Node& node) const;
  void Remember(TokenOwner owner);
  // The ids of an attempt that this controller did not start are never given out again.
  void UseUp(const QuarantinedAttempt& attempt);

  // Marks the nodes that the event changes, or the jobs on which it does. Called before it is
  // applied, with the version that it makes, and after.
  void Touch(const Event& event, Version version);
  void Touch(NodeId node, Version version);

  Version version_;
  Epoch epoch_;
  JobId next_job_{1};
  NodeId next_node_{1};
  JobTable jobs_;
  std::map<NodeId, Node> nodes_;
  std::map<std::string, NodeId> node_names_;
  std::vector<Version> touched_;  // by node id
  Version all_touched_;
  std::deque<std::pair<Version, NodeId>> touches_;  // in the order of versions, the newest ones
  Version touches_since_;                           // later ones are all in there
  std::set<NodeId> quarantining_;
  std::map<NodeId, std::set<JobId>> jobs_on_;
  std::set<JobId> pending_;
  std::set<JobId> suspended_;
  std::set<JobId> elastic_;
  std::map<JobId, std::uint32_t> array_running_;
  DependencyBook dependencies_;
  LicenseBook licenses_;
  PolicyLedger policy_;
  UsageLedger usage_;
  HealthBook health_;
  std::deque<std::string> token_order_;
  std::unordered_map<std::string, TokenOwner> tokens_;
};

}  // namespace muster
