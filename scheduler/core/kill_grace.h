#pragma once

// How long a job has between SIGTERM and SIGKILL.
//
// Thread promise: pure. Invariants: a job that gives way to another has the GraceTime of its QOS
// where that has one; an elastic job whose workers wait for a lost node has a few seconds at most;
// else, and for every other end, its own grace.

#include <algorithm>

#include "scheduler/core/usage_keys.h"
#include "scheduler/model/elastic_policy.h"
#include "scheduler/model/exit_status.h"
#include "scheduler/model/job_spec.h"
#include "scheduler/model/policy.h"

namespace muster {

inline Duration KillGraceOf(const PolicyBook& book, const JobSpec& spec, EndCause cause) {
  if (spec.elastic && cause == EndCause::kJobEnding) {
    return std::min(spec.kill_grace, kElasticLossGrace);
  }
  const bool preempted = cause == EndCause::kPreempted || cause == EndCause::kPreemptedToRequeue;
  const Qos* qos = preempted ? FindQos(book, EffectiveQos(spec.qos)) : nullptr;
  return qos != nullptr && qos->grace_time > Duration(0) ? qos->grace_time : spec.kill_grace;
}

}  // namespace muster
