#pragma once

// What a job is charged for each second: its resources by their weights, as one number.
//
// Slurm's TRESBillingWeights (slurm.conf), with MAX_TRES and MAX_TRES_GRES of PriorityFlags: sum:
// every weight times its amount; MAX_TRES: max(cpu, mem, node, each gres) + the others (licences,
// burst buffers, file systems, energy); MAX_TRES_GRES (since 25.05): max(cpu, mem, node) + each
// gres + the others. Slurm cuts the result to a whole number; here it keeps millionths, so that
// three quarters of a CPU cost something. Invariants: (1) each weighted amount is rounded down to a
// millionth, once; (2) a result beyond kBillingRateMax is that.

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/policy/decayed_usage.h"
#include "scheduler/model/policy/policy_usage.h"
#include "scheduler/model/policy/tres_weight.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// "CPU=1.0,Mem=0.25G,GRES/gpu=2.0,license/licA=1.5". A weight is a decimal number with six
// decimals at most; on mem and bb K, M, G, T or P says for how much (2^10, … bytes), and mem
// without one is for each MiB. InvalidArgument says what is wrong where, in one line.
absl::StatusOr<std::vector<TresWeight>> ParseTresWeights(std::string_view text);

// Amounts without a weight cost nothing. REQUIRES: no name comes twice in `amounts` or `weights`.
BillingRate Billing(const std::vector<TresAmount>& amounts, const std::vector<TresWeight>& weights,
                    BillingRule rule);

// The rate of a job that was given this, times the QOS's usage factor in thousandths. Reckoned
// once, when a plan is taken, and written into the attempt: a change of weights does not change
// what ran before.
BillingRate BillingOf(const TresUse& held, std::uint32_t usage_factor,
                      const PriorityConfig& config);

}  // namespace muster::core
