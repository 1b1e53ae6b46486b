#pragma once

// What checkpoints and failures cost jobs, in lines and as a table.
//
// Pure.

#include <optional>
#include <string>
#include <vector>

#include "cli/page/style.h"
#include "cli/sheet/job_table.h"
#include "scheduler/model/job/checkpoint_record.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// The share of the time held that was work which was kept: (held - stall - restart - lost) / held
// (the effective training time ratio of A. Kokolis et al., arXiv 2410.21680, but for waiting).
// Nothing when nothing was held.
std::optional<double> EffectiveShare(const CheckpointTotals& totals);

// "3 checkpoints, 0:12.00 stood still, 0:04.10 until it was back, 1:02 lost; 97.3 % effective";
// empty when there is nothing to say. `held` is of the attempt under way.
std::string CheckpointText(const CheckpointTotals& totals, Duration held);

// "2, the newest at 2026-03-14 09:26:53, 0:04.20 each, 12 GiB; 0:31.00 lost" of one attempt.
std::string CheckpointText(const AttemptView& attempt, const Style& style);

std::string PrintCheckpoints(const std::vector<JobView>& jobs, TableChoice choice,
                             const Style& style);

}  // namespace muster::cli
