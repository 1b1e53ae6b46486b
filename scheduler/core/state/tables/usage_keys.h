#pragma once

// Whom a job counts for: the keys of the usage table, and what a job holds in the units of limits.
//
// Invariants: a job's keys are the same when it is charged and when it is freed, as long as the
// policy is the same; each key is there once.

#include <string>
#include <vector>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/policy/policy.h"
#include "scheduler/model/policy/policy_usage.h"

namespace muster::core {

// The name, or the implied one's.
std::string EffectiveQos(const std::string& qos);
std::string EffectivePartition(const std::string& partition);
// The key that counts the jobs of an object; an association's name is "ACCOUNT/USER".
UsageKey KeyOf(PolicyKind kind, const std::string& name);
// The account and all above it; of no account the root alone.
std::vector<std::string> ChargedAccounts(const SitePolicy& site, const std::string& account);
// The partitions that the job names, in its order.
std::vector<std::string> PartitionNames(const JobSpec& spec);

// The job's QOS and those of the partitions, each once.
std::vector<std::string> QosOf(const SitePolicy& site, const std::string& qos,
                               const std::vector<std::string>& partitions);
// The keys of a job in these partitions.
std::vector<UsageKey> KeysOf(const SitePolicy& site, const JobSpec& spec,
                             const std::vector<std::string>& partitions);
// The limits of a key; null when there are none.
const Limits* LimitsOf(const SitePolicy& site, const UsageKey& key);

void AddUse(TresUse& use, const NodeAllocation& part, const Machine& machine);
void Add(TresUse& use, const TresUse& more, std::uint64_t times = 1);
// REQUIRES: `less` was added before.
void Subtract(TresUse& use, const TresUse& less, std::uint64_t times = 1);
// What the request will hold at least, wherever it is placed.
TresUse LeastUse(const ResourceRequest& request);
// Amounts as budgets count them (memory in MiB), times thousandths.
TresUse ForBudget(const TresUse& use, std::uint32_t thousandths);

}  // namespace muster::core
