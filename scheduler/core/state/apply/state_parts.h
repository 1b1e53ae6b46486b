#pragma once

// The parts of the cluster state, and what several events do to them.
//
// ClusterState holds them and shows them; only what applies events (job_events, attempt_events,
// node_events) changes them. Thread promise: none; owned by one thread. Invariants: see
// state/invariants; they hold between two events.

#include "scheduler/core/power/power_table.h"
#include "scheduler/core/state/apply/alert_table.h"
#include "scheduler/core/state/apply/job_index.h"
#include "scheduler/core/state/apply/narrow_link_table.h"
#include "scheduler/core/state/apply/node_table.h"
#include "scheduler/core/state/apply/request_tokens.h"
#include "scheduler/core/state/tables/dependency.h"
#include "scheduler/core/state/tables/health_table.h"
#include "scheduler/core/state/tables/job_table.h"
#include "scheduler/core/state/tables/licenses.h"
#include "scheduler/core/state/tables/policy_use_table.h"
#include "scheduler/core/state/tables/usage_table.h"
#include "scheduler/model/change/state_image.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/value/ids.h"

namespace muster::core {

struct StateParts {
  StateParts() = default;
  // REQUIRES: the image of a state, as the store loads it.
  explicit StateParts(StateImage image);

  // The job, to change it: by itself from now on. REQUIRES: it is live.
  Job& MustJob(JobId id);
  // REQUIRES: this is the job's attempt.
  Job& MustJob(JobId id, AttemptNumber number);
  // REQUIRES: the change is allowed.
  void Change(Job& job, JobChange change, JobState to);
  // The job has its attempt's allocation from now on; it has none of it any more.
  void Take(const Job& job);
  void Free(const Job& job);
  // The ids of an attempt that this controller did not start are never given out again.
  void UseUp(const QuarantinedAttempt& attempt);

  Epoch epoch;
  JobId next_job{1};
  JobTable jobs;
  JobIndex index;
  NodeTable nodes;
  DependencyTable dependencies;
  LicenseTable licenses;
  PolicyUseTable policy;
  UsageTable usage;
  HealthTable health;
  PowerTable power;
  AlertTable alerts;
  NarrowLinkTable narrow_links;
  RequestTokens tokens;
};

// The job's own spec from now on, apart from the one that it shares with its submission.
void SetSpec(Job& job, JobSpec spec);

}  // namespace muster::core
