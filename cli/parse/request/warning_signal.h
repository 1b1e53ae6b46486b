#pragma once

// The signal before the time limit's end, in Slurm's form: [{R|B}:]SIGNAL[@TIME|@auto].
//
// Pure; errors as in number.h. Invariants: an accepted signal is one of signal.h; TIME is seconds,
// or a duration with units or colons; by default a minute.

#include <string_view>

#include "absl/status/statusor.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::cli {

absl::StatusOr<WarningSignal> ParseWarningSignal(std::string_view text);

}  // namespace muster::cli
