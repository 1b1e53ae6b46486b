#pragma once

// What `muster run` does, for whoever starts the same command several times.
//
// Thread promise: runs on the main thread, one run after another. Invariant: it comes back when the
// step and, where it was made for the step, its job have ended.

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/run/stream/step_io.h"
#include "scheduler/model/value/ids.h"

namespace muster::cli {

// Takes what a rank wrote to its standard output, in pieces.
using OutputTaker = std::function<void(const RankSource& rank, std::string_view bytes)>;

struct EndedRun {
  JobId job;
  StepId step;
  int exit_code = 0;
};

// Runs the invocation's command, as `muster run` would. Where `taker` is given, what the ranks
// write to their standard output goes to it instead of ours, and the first Ctrl-C ends them.
absl::StatusOr<EndedRun> RunCommand(const Invocation& invocation, const OutputTaker& taker);

}  // namespace muster::cli
