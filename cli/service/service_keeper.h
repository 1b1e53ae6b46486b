#pragma once

// Keeps a service as it was asked for, until it is stopped: `muster service keep`.
//
// Thread promise: the main thread's; a call blocks it. Invariants: what is asked stands in
// the service's jobs and not here, so a keeper that is started again, or beside another, comes to
// the same number; while no controller answers nothing is changed.

#include <chrono>

#include "absl/status/statusor.h"
#include "cli/service/service_calls.h"
#include "cli/service/service_changes.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

struct KeepTerms {
  Duration lost_after = std::chrono::seconds(30);  // until a lost replica is replaced
  Duration drain = std::chrono::seconds(5);        // as of ChangeTerms
};

// Until one of the signals comes or the service is stopped. They were blocked before the connection
// was opened: its threads would take them. NotFound: there is no such service.
absl::StatusOr<int> KeepService(const ServiceCalls& calls, const KeepTerms& terms,
                                const TellChange& tell, const UniqueFd& signals);

}  // namespace muster::cli
