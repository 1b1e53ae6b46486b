#pragma once

// What an attempt's part says that could not be started, beside its text.

#include "scheduler/model/job/exit_status.h"

namespace muster {

// The exit code, as sysexits.h has it, of a part that could not be started for something that may
// be there in a while, such as an image of a registry that does not answer.
inline constexpr std::int32_t kTryAgainCode = 75;

constexpr bool MayStartLater(EndCause cause, ExitStatus status) {
  return cause == EndCause::kLaunchFailed && status == ExitStatus{kTryAgainCode, 0};
}

}  // namespace muster
