#pragma once

// How long a job has between SIGTERM and SIGKILL.
//
// Invariants: a job that is preempted has the GraceTime of its QOS where that has one; an elastic
// job whose workers wait for a lost node has a few seconds at most; else, and for every other end,
// its own grace, within what the site gives (SchedulerConfig::kill_grace_max): the submitter asks,
// the site decides.

#include <algorithm>

#include "scheduler/core/state/tables/usage_keys.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/policy/policy.h"
#include "scheduler/model/settings/elastic_policy.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// No more than the site gives.
inline Duration WithinGrace(Duration asked, const SchedulerConfig& config) {
  return config.kill_grace_max == Duration(0) ? asked : std::min(asked, config.kill_grace_max);
}

inline Duration KillGraceOf(const SitePolicy& site, const JobSpec& spec, EndCause cause,
                            const SchedulerConfig& config) {
  const Duration own = WithinGrace(spec.kill_grace, config);
  if (spec.elastic && cause == EndCause::kJobEnding) {
    return std::min(own, kElasticLossGrace);
  }
  const bool preempted = cause == EndCause::kPreempted || cause == EndCause::kPreemptedToRequeue;
  const Qos* qos = preempted ? FindQos(site, EffectiveQos(spec.qos)) : nullptr;
  return qos != nullptr && qos->grace_time > Duration(0) ? qos->grace_time : own;
}

}  // namespace muster::core
