#pragma once

// What a job is charged for each second of what it was given.
//
// Reckoned once, when a plan is taken, and written into the attempt: a change of weights does not
// change what ran before. Thread promise: pure.

#include "scheduler/model/policy/decayed_usage.h"
#include "scheduler/model/policy/policy_usage.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// The rate for these amounts (core/share/billing.h), times the QOS's usage factor in thousandths.
BillingRate BillingOf(const TresUse& held, std::uint32_t usage_factor,
                      const PriorityConfig& config);

}  // namespace muster::core
