#pragma once

// `muster health --links`: measures links between idle nodes.
//
// Thread promise: the main thread's; a thread for each pair that is measured waits for it.

#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/frame/verb.h"

namespace muster::cli {

// --links, --rounds, --least, --drain.
std::vector<Option> LinkOptions();

// Of the nodes that are named, else of all that are idle. The exit code: 0 where no link is slow
// and each was measured, else 1. InvalidArgument: fewer than two idle nodes, or a bad number.
absl::StatusOr<int> CheckLinks(const Invocation& invocation, Connection& connection);

}  // namespace muster::cli
