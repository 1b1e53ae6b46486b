#pragma once

// What commands that show something share: options that the environment stands in for, and showing
// again and again.
//
// Thread promise: the main thread's. Invariant: a pause is a day at most.

#include <chrono>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/slurm/frame/words.h"

namespace muster::cli::slurm {

// So long Slurm's controller, and squeue here, knows a job that has ended.
inline constexpr std::chrono::seconds kMinJobAge{300};

// The value of the option, else of the environment's variable.
std::string ValueOr(const Words& words, const char* name, const Environment& environment,
                    const char* variable);

// --iterate in seconds; 0 where it was not given. InvalidArgument: a line for stderr without the
// command's name.
absl::StatusOr<unsigned> ReadPause(const Words& words);

struct Watching {
  std::string clusters;  // --clusters
  unsigned pause_s = 0;  // 0: once
};

// Opens the controller and prints, again after each pause; what it returns is the exit code.
// `refuse` writes why the controller cannot be asked.
int ShowAgain(const Call& call, const Watching& watching,
              const std::function<int(const absl::Status&)>& refuse,
              const std::function<int(Connection&)>& print);

}  // namespace muster::cli::slurm
