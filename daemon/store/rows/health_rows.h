#pragma once

// The rows of the nodes' health, of alerts and of narrow links: what the state needs, and the older
// checks.
//
// Thread promise: belongs to the thread of its database.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "scheduler/model/change/alert.h"
#include "scheduler/model/change/state_image.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/narrow_link.h"
#include "scheduler/model/machine/power.h"

namespace muster::daemon {

// Puts what is known of all nodes, the alerts that last and the narrow links into the image.
absl::Status ReadHealthState(Database& database, StateImage* image);

// Of a node that was switched off.
absl::Status WritePower(const NodePower& power, Database& database);

// Of an alert that lasts; of one that is over.
absl::Status WriteAlert(const Alert& alert, Database& database);
absl::Status EraseAlert(const Alert& alert, Database& database);

absl::Status WriteNarrowLink(const NarrowLink& link, Database& database);
absl::Status EraseNarrowLink(const NarrowLink& link, Database& database);

// The node's checks, the newest first, at most `limit`.
absl::StatusOr<std::vector<HealthRecord>> ReadHealthHistory(Database& database, NodeId node,
                                                            std::uint32_t limit);

// How many checks of a node are kept.
inline constexpr std::uint64_t kHealthKept = 500;

}  // namespace muster::daemon
