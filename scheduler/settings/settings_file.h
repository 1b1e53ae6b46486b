#pragma once

// The scheduler's settings in a configuration: [policy], [licenses], [priority] and
// [power.NAME].
//
// One reader for the controller that schedules live and for the simulator that tries a file first.
// Invariants: an error begins with FILE:LINE and leaves the settings unusable, not half-meant: the
// caller drops them.

#include "absl/status/status.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/runtime/config_file.h"

namespace muster {

absl::Status ReadSettings(ConfigFile& file, SchedulerConfig& policy);

}  // namespace muster
