#pragma once

// What a job asks for and holds, as the largest of its parts of the cluster's CPUs, memory and
// GPUs.
//
// Invariants: integers only; the share of a job that asks for nothing is 0.

#include <cstdint>
#include <vector>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/amounts.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/policy/policy_usage.h"

namespace muster::core {

// What all jobs of the cluster together could ask. Of GPUs all functions here count `gpu_share`,
// not `gpus`.
Amounts WholeOf(const std::vector<NodeSnapshot>& nodes);

// The parts that a whole is made of.
inline constexpr std::uint64_t kShareParts = 1'000'000'000'000;

// Thousandths of GPUs.
std::uint64_t GpusOf(const TresUse& use);
Amounts AskOf(const JobSpec& spec);
Amounts HeldBy(const RunningJob& job);
std::uint64_t DominantShare(const Amounts& held, const Amounts& whole);

}  // namespace muster::core
