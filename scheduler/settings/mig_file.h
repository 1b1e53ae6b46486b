#pragma once

// [mig.NAME] in the configuration: nodes whose GPUs are divided by MIG when waiting jobs ask for
// it.
//
// nodes (a list, or "ALL"), layouts (lists of profiles: ["3g.40gb,3g.40gb", "7*1g.10gb"]).
// Invariant: an error begins with FILE:LINE and leaves the config unusable: the caller drops it.

#include "absl/status/status.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/runtime/config_file.h"

namespace muster {

absl::Status ReadMig(ConfigFile& file, SchedulerConfig& policy);

}  // namespace muster
