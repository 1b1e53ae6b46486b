#pragma once

// --dependency in Slurm's words: afterok:12:13,after:14+5 or afterany:1?afterany:2, singleton.
//
// Pure; errors as in number.h. Invariants: an accepted dependency reads back from its text; a kind
// with several ids becomes a term for each.

#include <string_view>

#include "absl/status/statusor.h"
#include "scheduler/model/job/dependency.h"

namespace muster::cli {

// The most terms of one dependency.
inline constexpr std::size_t kDependencyTermsMax = 1000;

absl::StatusOr<Dependency> ParseDependency(std::string_view text);

}  // namespace muster::cli
