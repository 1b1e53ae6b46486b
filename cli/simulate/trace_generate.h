#pragma once

// muster trace generate: a synthetic workload as text.
//
// Thread promise: pure, but for reading the trace of --mix.

#include <string>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"

namespace muster::cli {

// The options of generate alone: --jobs, --seed, --load, --mix.
std::vector<Option> GenerateOptionTable();

// The whole workload, in SWF or, with `csv`, as a table.
absl::StatusOr<std::string> GenerateTrace(const Invocation& invocation, bool csv);

}  // namespace muster::cli
