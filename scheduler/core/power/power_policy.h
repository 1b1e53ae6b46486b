#pragma once

// Which nodes are switched off and on, and when one that is off can be used.
//
// A node that was idle for its class's time is switched off, unless something is known to need it
// before that pays: a planned start, a promise, a reservation. One that is needed is switched on so
// much earlier as it takes to boot. Invariants: (1) a node that is busy, excepted, or needed before
// it has shut down, booted and saved energy is never switched off; (2) `keep_on` idle nodes stay
// on; (3) a node that is off is switched on no later than its boot time before it is needed, unless
// `most_on` or `rate` is in the way; (4) no node is ordered both ways.

#include <cstddef>
#include <optional>
#include <vector>

#include "scheduler/model/machine/power.h"
#include "scheduler/model/settings/power_class.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

// A node as the policy sees it.
struct PowerCandidate {
  NodeId node;
  std::size_t kind = 0;  // of the classes
  PowerState state = PowerState::kOn;
  Time since = kNoTime;  // of the state
  Duration boot{0};      // how long it takes from the order to a usable node
  bool busy = false;     // a job, or anything else that needs it on, is there
  Time idle_since = kNoTime;
  bool excepted = false;  // it is not switched off, whatever happens
  Time needed = kNoTime;  // when something begins there, as far as is known; kNoTime: never
};

struct PowerOrders {
  std::vector<NodeId> suspend;  // the longest idle first
  std::vector<NodeId> resume;   // the soonest needed first
  Time wake = kNoTime;          // when time alone changes the answer; kNoTime: it does not
};

// `nodes` are in any order, and so is the answer the same for any.
PowerOrders DecidePower(const std::vector<PowerCandidate>& nodes,
                        const std::vector<PowerClass>& classes, Time now);

// How long a node must be off its duty, from the order to switch it off until it can be used again,
// for that to cost less energy than to leave it idle. Nothing: it never does. Without watts: as
// long as it takes.
std::optional<Duration> BreakEven(const PowerClass& kind, Duration boot);

// When jobs can use the node at the earliest; kNoTime when nobody can say: it failed to boot.
Time AvailableFrom(const NodePower& power, Time now);

// How long a boot takes, from those measured: the upper quartile, so that one boot in four may be
// slower and one bad measurement says nothing. Fewer than three measured ones say nothing yet.
Duration LearnedBootTime(std::vector<Duration> measured, Duration configured);

}  // namespace muster::core
