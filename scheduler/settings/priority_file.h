#pragma once

// [priority] in the configuration: weights, fairshare, decay and billing.
//
// order = "priority"|"drf", fairshare = "fair-tree"|"classic", damping, weight_age, …, favor_small,
// max_age, half_life, billing = "CPU=1.0,Mem=0.25G,GRES/gpu=2.0" and billing_rule =
// "sum"|"max_tres"|"max_tres_gres". Invariant: an error begins with FILE:LINE and leaves the config
// unusable, not half-meant: the caller drops it.

#include "absl/status/status.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/runtime/config_file.h"

namespace muster {

absl::Status ReadPriority(ConfigFile& file, PriorityConfig& config);

}  // namespace muster
