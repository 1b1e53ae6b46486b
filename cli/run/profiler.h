#pragma once

// A profiler in front of each rank's command: `muster run --profile=TOOL`.
//
// A shell of the rank's own looks for the tool there, names the output after the job, the step and
// the rank, and becomes the tool. Pure but for CheckProfiler, which reads files. Invariant: the
// words of the command reach the program as they are.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/frame/environment.h"
#include "cli/frame/verb.h"

namespace muster::cli {

// --profile itself, for the verb.
Option ProfileOption();

// Whether the tool is there and may measure, where the ranks run on this machine:
// FailedPrecondition in one line, before anything starts. InvalidArgument when there is no such
// tool.
absl::Status CheckProfiler(const std::string& tool, const std::string& work_dir,
                           const Environment& environment);

// What a rank runs instead of `command`. InvalidArgument when there is no such tool.
absl::StatusOr<std::vector<std::string>> ProfiledCommand(const std::string& tool,
                                                         const std::vector<std::string>& command);

// What the kernel lets a user measure who is not root, by its perf_event_paranoid.
bool MayMeasure(std::string_view paranoid);
// Whether the NVIDIA driver shows GPU counters to root alone, by its list of parameters.
bool CountersAreRoots(std::string_view parameters);

}  // namespace muster::cli
