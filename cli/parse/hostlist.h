#pragma once

// Node lists: "n1,n[3-5,7],rack[01-02]n[1-8]", as sinfo and cli/page/hostlist write them.
//
// Zeros in front are kept: 08-10 is 08, 09, 10. Pure; errors as in number.h. Thread promise: safe
// from any thread. Invariants: an accepted list has 1 to kHostsMax names, each once, in the order
// in which they were first named.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/value/host_list.h"

namespace muster::cli {

absl::StatusOr<std::vector<std::string>> ParseHostlist(std::string_view text);

}  // namespace muster::cli
