#pragma once

// What a job asks for and holds, as the largest of its parts of the cluster's CPUs, memory and
// GPUs.
//
// Thread promise: pure. Invariants: integers only; the share of a job that asks for nothing is 0.

#include <array>
#include <cstdint>
#include <vector>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/policy/policy_usage.h"

namespace muster::core {

// What all jobs of the cluster together could ask.
struct WholeCluster {
  std::uint64_t cpus = 0;
  std::uint64_t memory = 0;
  std::uint64_t gpus = 0;  // thousandths
};
WholeCluster WholeOf(const std::vector<NodeSnapshot>& nodes);

// Of so many parts a whole is made.
inline constexpr std::uint64_t kShareParts = 1'000'000'000'000;

// CPUs, bytes and thousandths of GPUs.
using Amounts = std::array<std::uint64_t, 3>;

// Thousandths of GPUs.
std::uint64_t GpusOf(const TresUse& use);
Amounts AskOf(const JobSpec& spec);
Amounts HeldBy(const RunningJob& job);
std::uint64_t DominantShare(const Amounts& held, const WholeCluster& whole);

}  // namespace muster::core
