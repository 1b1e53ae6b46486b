#pragma once

// What muster health shows: one line a node, or a page with each component beside its class.
//
// Pure.

#include <string>
#include <vector>

#include "cli/page/style.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

std::string PrintHealthTable(const std::vector<HealthView>& nodes, Time now, const Style& style);

// The newest check of the node, component by component, and the checks before.
std::string PrintHealthPage(const HealthView& node, Time now, const Style& style);

// "quick", "burn-in"; "boot", "schedule", …; "good", "slow", "failed", "not judged"; "measured", …
const char* Name(HealthKind kind);
const char* Name(HealthCause cause);
const char* Name(HealthStatus status);
const char* Name(HealthOutcome outcome);

}  // namespace muster::cli
