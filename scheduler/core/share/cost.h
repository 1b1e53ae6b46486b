#pragma once

// What an attempt costs by a site's prices.
//
// Pure. Cost = hours held * (CPUs * cpu_hour + GPUs * gpu_hour + GiB * memory_gib_hour + nodes *
// node_hour + billing * billing_hour) + measured kWh * kwh. Invariants: (1) what was held and the
// energy are each rounded down to a millionth of the currency, and what a unit of billing costs an
// hour as well; (2) time in which the attempt was suspended is not held.

#include "scheduler/model/settings/prices.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"
#include "scheduler/model/view/view.h"

namespace muster::core {

// 0 where nothing has a price. An attempt that runs costs what it held until `now`. A cost beyond
// 2^63 millionths is that.
Cost CostOf(const AttemptUse& attempt, const Prices& prices, Time now);

}  // namespace muster::core
