#pragma once

// The scheduler's settings in a configuration: [policy], [licenses], [priority] and
// [power.NAME].
//
// One reader for the controller that schedules live and for the simulator that tries a file first.
// Invariants: an error begins with FILE:LINE and leaves the settings unusable, not half-meant: the
// caller drops them. What a configuration does not say is as in DefaultSettings, but that one which
// says how to backfill and names no order has the order that backfills so: "priority".

#include "absl/status/status.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/runtime/config_file.h"

namespace muster {

// Of a site that says nothing: the order is "prompt".
SchedulerConfig DefaultSettings();

// Into DefaultSettings.
absl::Status ReadSettings(ConfigFile& file, SchedulerConfig& policy);

}  // namespace muster
