#pragma once

// What jobs used within a time, added up.
//
// Pure. Invariants: (1) only what lies between start and end of an attempt counts, without the time
// in which it was suspended; (2) each attempt counts with what it held; of a job that comes without
// its attempts, the last.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/value/time.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct UsageWindow {
  Time start = kNoTime;
  Time end = kNoTime;
};

// The job's attempts; of one that comes without, what the job itself says.
std::vector<AttemptUse> AttemptsOf(const JobView& job);

// What runs has not used what is still to come: it counts as far as `now`.
void CountUpTo(Time now, JobView& job);

// Whether it, or one of them, ran at any moment of the window.
bool RanIn(const AttemptUse& attempt, const UsageWindow& window);
bool RanIn(const std::vector<AttemptUse>& attempts, const UsageWindow& window);
// How long it did.
Duration HeldTime(const AttemptUse& attempt, const UsageWindow& window);
// Seconds of the amount that the job has of "cpu", "mem" (MiB), "node" or "gres/gpu".
std::uint64_t UsedSeconds(const JobView& job, const std::string& tres, const UsageWindow& window);

// How much of it all nodes have as they are.
std::uint64_t OfferedAmount(const std::vector<NodeView>& nodes, const std::string& tres);
// The seconds that all nodes as they are offer in the window.
std::uint64_t OfferedSeconds(const std::vector<NodeView>& nodes, const std::string& tres,
                             const UsageWindow& window);

}  // namespace muster::cli
