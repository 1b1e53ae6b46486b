#pragma once

// Which file a command means, found before anything is asked of the controller.
//
// Thread promise: reads files, changes nothing; safe from any thread. Invariant: what is returned
// was an executable file a moment ago.

#include <string>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"

namespace muster::cli {

// The command's path, as a shell in `work_dir` would find it.
absl::StatusOr<std::string> FindProgram(const std::string& command, const std::string& work_dir,
                                        const Environment& environment);

}  // namespace muster::cli
