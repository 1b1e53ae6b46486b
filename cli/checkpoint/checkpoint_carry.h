#pragma once

// muster checkpoint push and fetch; and carry, by which a supervisor starts a batch script whose
// checkpoints are kept on an object store, too.
//
// Carry fetches a checkpoint where the script would find none, leaves a process beside it that
// copies the newest ones, and becomes the script. That process ends once the script has ended and
// its newest checkpoint is copied. Thread promise: the main thread, before any other. Invariants:
// the script has the process, the streams and the signals that it would have without; a copy that
// fails ends nothing, and the next one is tried.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// As /proc/PID/comm says: the supervisor knows the process by that.
inline constexpr const char* kCarryName = "muster-carry";

// Where the copies of a checkpoint directory are: PLACE and the directory's own name.
std::string ObjectPlaceOf(const std::string& place, const std::string& directory);

// What is known of the copies, in the checkpoint directory.
struct CarryNote {
  std::string place;
  std::uint64_t generation = 0;  // the newest that is copied; 0: none
  Time copied = kNoTime;
  std::string error;  // of the newest copy; "": it went well
};
std::string PrintCarryNote(const CarryNote& note);
// One without a place: there is none.
CarryNote ReadCarryNote(const std::string& directory);

absl::StatusOr<int> CheckpointPush(const Invocation& invocation);
absl::StatusOr<int> CheckpointFetch(const Invocation& invocation);
absl::StatusOr<int> CheckpointCarry(const Invocation& invocation);

}  // namespace muster::cli
