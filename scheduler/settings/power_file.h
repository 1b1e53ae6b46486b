#pragma once

// [power.NAME] in the configuration: nodes that are switched off while nobody needs them.
//
// nodes, except, idle, suspend and resume (the programs), user (of the programs: who reads the file
// to act looks that user up), suspend_timeout, resume_timeout, boot_time, keep_on, max_on, rate,
// busy_watts, idle_watts, off_watts. Invariant: an error begins
// with FILE:LINE and leaves the config unusable, not half-meant: the caller drops it.

#include "absl/status/status.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/runtime/config_file.h"

namespace muster {

absl::Status ReadPower(ConfigFile& file, SchedulerConfig& policy);

}  // namespace muster
