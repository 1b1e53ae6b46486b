#pragma once

// --licenses: "ansys:2,matlab"; a name without a count asks for one.
//
// Pure; errors as in number.h. Invariants: an accepted list has positive counts and names each
// licence once.

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/job/license.h"

namespace muster::cli {

absl::StatusOr<std::vector<LicenseCount>> ParseLicenses(std::string_view text);

}  // namespace muster::cli
