#pragma once

// A site whose operators change their mind: accounts with shares, partitions, QOS with limits, and
// what is done to them while jobs wait and run.
//
// Thread promise: pure but for the sequence. Invariants: what SiteAtFirst makes is what DrawChange
// changes; after LiftAll nothing keeps a job waiting but resources, dependencies and holds.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/simulator/random_sequence.h"
#include "scheduler/simulator/workload/wishes.h"

namespace muster::sim {

// Accounts, partitions and QOS, in the order in which they must be made.
std::vector<ChangePolicy> SiteAtFirst(std::uint32_t nodes);
// What its users may name.
void NameSite(WishList* list);
// One change by an operator. Some are refused.
ChangePolicy DrawChange(std::uint32_t nodes, RandomSequence& random);
std::vector<ChangePolicy> LiftAll();

// The weights, the order and the backfill of one site; the order called prompt has lives of its
// own.
void DrawSettings(RandomSequence& random, SchedulerConfig* config);

}  // namespace muster::sim
