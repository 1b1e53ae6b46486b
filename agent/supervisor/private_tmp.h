#pragma once

// A /tmp and a /dev/shm that belong to one attempt on one node, and go with it.
//
// A mount namespace of the supervisor's own, which all that it starts inherits: /tmp is a directory
// of the attempt's, which the agent removes with the rest, /dev/shm a file system in memory that
// ends with the last process, and is charged to the attempt. Thread promise: before threads.
// Invariant: nothing outside the calling process and its children sees a mount of ours.

#include <string>

#include "absl/status/status.h"

namespace muster {

// FailedPrecondition, one line, when an agent of this state directory cannot have it: it is not
// root's, or it keeps its own files below /tmp or /dev/shm, where nobody would find them.
absl::Status MayHavePrivateTmp(const std::string& state);

// Gives this process and its children both, with `directory` as /tmp; made, for everybody, mode
// 1777.
absl::Status MakePrivateTmp(const std::string& directory);

}  // namespace muster
