#pragma once

// The options of `muster run` about the ranks' standard streams: --output, --error, --open-mode,
// --input.
//
// Thread promise: the main thread's; opens the input's file, changes nothing. Invariant: what is
// returned could be written and read a moment ago.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/run/rank_files.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

struct StreamChoice {
  OutputChoice output;
  std::string takers;  // the ranks with input, for the supervisors: "", "all", "none", "3"
  UniqueFd file;       // of the input; none: our own standard input
};

// The options themselves, for the verb.
std::vector<Option> StreamOptions();

absl::StatusOr<StreamChoice> ReadStreams(const Invocation& invocation, const std::string& work_dir);

}  // namespace muster::cli
