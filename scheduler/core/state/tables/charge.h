#pragma once

// What a job that runs is charged, and until when.
//
// One definition for the usage table, which charges, and for policy, which looks ahead. Invariants:
// (1) a charge is of the job's allocation alone, whatever it uses of it; (2) times saturate and
// never wrap.

#include <cstdint>
#include <string>

#include "scheduler/core/state/tables/usage_keys.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/policy/policy_usage.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

// The spec's time limit in whole seconds, rounded up; 0: none.
inline std::uint64_t WallSeconds(Duration limit) {
  return static_cast<std::uint64_t>((limit.count() + 999) / 1000);
}

// When a job that starts at `start` must be done by; Time::max() without a time limit.
inline Time EndBy(const JobSpec& spec, Time start) {
  return spec.time_limit.count() == 0 || start > Time::max() - spec.time_limit
             ? Time::max()
             : start + spec.time_limit;
}

// When the job's charge ends by its time limit; kNoTime without one.
inline Time ChargedUntil(const JobSpec& spec, Time started) {
  return spec.time_limit.count() > 0 ? started + spec.time_limit : kNoTime;
}

// What a job that starts at `now` is charged.
template <class MachineOf>
RunningCharge ChargeOf(JobId job, const JobSpec& spec, const std::string& partition, Time now,
                       const Allocation& allocation, const MachineOf& machine_of) {
  RunningCharge charge;
  charge.job = job;
  charge.account = spec.account;
  charge.user = spec.user.name;
  charge.qos = EffectiveQos(spec.qos);
  charge.partition = EffectivePartition(partition);
  charge.reservation = spec.reservation;
  charge.started = now;
  charge.ends = ChargedUntil(spec, now);
  for (const NodeAllocation& part : allocation.nodes) {
    TresUse here;
    AddUse(here, part, machine_of(part.node));
    Add(charge.tres, here);
  }
  return charge;
}

}  // namespace muster::core
