#pragma once

// The call for what jobs used over time.
//
// Thread promise: safe from any thread; it blocks its own. Invariant: errors are one line, and
// never InvalidArgument, which stands for bad usage.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/address.h"
#include "cli/parse/selector.h"
#include "cli/sheet/timeline/curve_sheet.h"

namespace muster::cli {

// Of the job, or of each element that is named.
absl::StatusOr<std::vector<UsageCurve>> ReadCurves(const Address& address,
                                                   const JobSelector& selector);

}  // namespace muster::cli
