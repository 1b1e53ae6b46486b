#pragma once

// What few operators change: any property of the site's policy, and any setting of the scheduler.
//
// For simulated lives that are to go everywhere, of a site that SiteAtFirst made. Thread promise:
// pure but for the sequence. Invariants: the same sequence gives the same changes, of which some
// are refused; after LiftRareChanges nothing of them keeps a job waiting.

#include <cstdint>
#include <vector>

#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// What the site has besides, in the order in which it must be made.
std::vector<ChangePolicy> RareSiteAtFirst(RandomSequence& random);
// By an operator, or by a coordinator of an account.
Command DrawRareChange(std::uint32_t nodes, RandomSequence& random);
std::vector<ChangePolicy> LiftRareChanges(std::uint32_t nodes);

// Power, MIG, health, checkpoints, elastic jobs, limits and the network, of a cluster of lives:
// what takes hours elsewhere takes seconds there.
void DrawRareSettings(std::uint32_t nodes, RandomSequence& random, SchedulerConfig* config);

}  // namespace muster::sim
