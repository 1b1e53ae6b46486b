#pragma once

// muster kernel timeline: the trace events of several ranks in one file, those of markers and those
// of profilers, and where their time goes.
//
// Thread promise: runs on the main thread. Invariant: the file that is written is whole or not
// there, and holds every event of each part, in the parts' order.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/page/style.h"

namespace muster::cli {

// Joins the documents of `parts` in `into`: the exit code. InvalidArgument for a part that is no
// list of trace events.
absl::StatusOr<int> JoinTimelines(const std::string& into, const std::vector<std::string>& parts,
                                  bool json, const Style& style);

}  // namespace muster::cli
