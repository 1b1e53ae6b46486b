#pragma once

// muster checkpoint list, verify and prune: the generations of a checkpoint directory.
//
// Pages and documents over checkpoint/store/store.h. Thread promise: runs on the main thread.
// Invariants: only prune removes, only complete generations and never the newest of a directory,
// and only when that newest reads back right.

#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"

namespace muster::cli {

// Their options, for the verb's table.
std::vector<Option> CheckpointDirectoryOptions();

absl::StatusOr<int> CheckpointList(const Invocation& invocation);
// 1 when a generation is not whole.
absl::StatusOr<int> CheckpointVerify(const Invocation& invocation);
absl::StatusOr<int> CheckpointPrune(const Invocation& invocation);

}  // namespace muster::cli
