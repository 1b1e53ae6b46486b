#pragma once

// The site's policy and what is in use of it, kept with each event.
//
// Part of core/state/cluster_state, in a file of its own; Apply alone calls what changes it. While
// the policy is empty nothing is counted; with the first rule everything is counted again. Thread
// promise: none; owned by the state's thread. Invariants: (1) `usage` is what Recount of the same
// jobs gives; (2) a running job is charged until its end with what it was given at its start.

#include <map>
#include <optional>
#include <vector>

#include "scheduler/core/state/tables/job_table.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/policy/policy_snapshot.h"

namespace muster::core {

class PolicyUseTable {
 public:
  using Nodes = std::map<NodeId, Node>;

  [[nodiscard]] const PolicySnapshot& snapshot() const { return snapshot_; }
  [[nodiscard]] const SitePolicy& site() const { return *snapshot_.site; }
  [[nodiscard]] bool active() const { return !snapshot_.site->empty(); }

  void Load(const std::vector<PolicyObject>& objects, const std::vector<Spent>& spent,
            const JobTable& jobs, const Nodes& nodes);
  void Change(const PolicyChanged& event, const JobTable& jobs, const Nodes& nodes);
  // A node registered for the first time.
  void AddNode(const Node& node);
  void RemoveNode(NodeId node);
  void Submit(const JobSpec& spec, std::uint64_t count);
  // REQUIRES: the job has an attempt.
  void Start(const Job& job, const Nodes& nodes);
  // The job's attempt gave its cores back, or has them again: it counts in limits all the same.
  void Suspend(const Job& job);
  // The job leaves the state, or its attempt ends: `forget` when it is not submitted any more.
  void End(const Job& job, Time now);
  void Forget(const JobSpec& spec);
  // The job asks something else from now on than it did `before`.
  void Update(const JobSpec& before, const Job& job);

  // The keys of the running job whose limits hold a budget: what its end is charged to.
  [[nodiscard]] std::vector<UsageKey> BudgetsOf(const Job& job) const;
  // What was spent of a key, as a row; nothing when it has no budget or nothing was spent.
  [[nodiscard]] std::optional<Spent> SpentOf(const UsageKey& key) const;
  // The counts as they should be, from the jobs alone.
  [[nodiscard]] PolicyUsage Recount(const JobTable& jobs, const Nodes& nodes) const;

 private:
  void FindNodes(const Nodes& nodes);
  void Regroup();
  [[nodiscard]] RunningCharge ChargeOf(const Job& job, const Nodes& nodes) const;
  static void Charge(const SitePolicy& site, PolicyUsage& usage, const JobSpec& spec,
                     const RunningCharge& charge);
  static void Discharge(const SitePolicy& site, PolicyUsage& usage, const JobSpec& spec,
                        const RunningCharge& charge);

  PolicySnapshot snapshot_;
  std::vector<std::pair<NodeId, std::string>> known_;  // registered nodes
};

}  // namespace muster::core
