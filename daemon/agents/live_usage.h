#pragma once

// What running attempts have used so far, by the last reports of their nodes.
//
// It is shown and forgotten, but for the curves: nothing of it is in the journal, and nothing is
// decided by it. Invariants: a node's word counts for attempts that run on it and for no other; of
// each attempt there is the newest sample of each node, and none once it, or its node, is gone.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/agents/node_gpus.h"
#include "daemon/agents/reported_curves.h"
#include "daemon/agents/straggler_watch.h"
#include "daemon/agents/usage_curves.h"
#include "proto/agent.pb.h"
#include "scheduler/core/explain/stragglers.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/rank_pace.h"
#include "scheduler/model/view/view.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

// What an attempt has used so far on the node that says so.
struct UsageSample {
  JobId job;
  AttemptNumber attempt;
  Time time = kNoTime;
  Usage usage;
  std::vector<SaidValue> said = {};    // by its programs there
  std::vector<Warning> warnings = {};  // of what they said
  std::vector<RankPace> ranks = {};    // of its steps there
};

absl::StatusOr<std::vector<UsageSample>> ReadSamples(const wire::UsageSamples& message);

class LiveUsage {
 public:
  // A node's report replaces all of its earlier ones.
  void Take(NodeId node, const std::vector<UsageSample>& samples, const core::ClusterState& state);
  // The same of its GPUs; `now` is since when what is new is so.
  void TakeGpus(NodeId node, const std::vector<GpuSample>& gpus, Time now);
  // Judges the jobs that run on the node: after what the node has told. Stragglers where it is
  // time, and ranks whose GPUs met errors since their attempts began.
  void LookForStragglers(NodeId node, const core::ClusterState& state, Time now);
  void Forget(NodeId node);
  // The jobs whose GPUs are idle, and since when; replaces what was said before.
  void TakeIdle(std::map<JobId, Warning> idle);
  // What jobs used over time; those that ended as long as there is room.
  // What programs said goes to those who may see what is the job's user's business.
  [[nodiscard]] std::vector<JobCurve> Curves(
      JobId job, const std::vector<std::uint32_t>& elements,
      const std::function<bool(const std::string& user)>& may_see) const;
  // Which of its ranks are slower than their peers; nothing: none has any, or it is not known yet.
  [[nodiscard]] std::optional<StragglersView> StragglersOf(const Job& job) const;
  // What is wrong with the job as it runs, and with the node's GPUs.
  [[nodiscard]] std::vector<Warning> WarningsOf(const Job& job) const;
  [[nodiscard]] std::vector<Warning> WarningsOf(NodeId node, Time now) const;
  // What the GPUs of nodes do and take; of nodes that told nothing, nothing.
  [[nodiscard]] std::map<NodeId, GpuSums> OfGpus() const;
  // Of the job's attempt under way, in the order of its nodes; those that have not reported are
  // left out.
  [[nodiscard]] std::vector<NodeUsage> Of(const Job& job, const core::ClusterState& state) const;

 private:
  [[nodiscard]] std::vector<core::PacedRank> PacesOf(const Job& job,
                                                     const core::ClusterState& state) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void LookForGpuErrors(NodeId node, const core::ClusterState& state)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  std::map<NodeId, std::map<JobId, UsageSample>> samples_ ABSL_GUARDED_BY(mutex_);
  UsageCurves curves_ ABSL_GUARDED_BY(mutex_);
  ReportedCurves reported_ ABSL_GUARDED_BY(mutex_);
  NodeGpus gpus_ ABSL_GUARDED_BY(mutex_);
  std::map<JobId, Warning> idle_ ABSL_GUARDED_BY(mutex_);
  struct RankErrors {
    AttemptNumber attempt;
    std::vector<Warning> warnings;
  };
  std::map<NodeId, std::map<JobId, RankErrors>> gpu_errors_ ABSL_GUARDED_BY(mutex_);
  StragglerWatch stragglers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
