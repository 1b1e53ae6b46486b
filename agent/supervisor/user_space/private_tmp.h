#pragma once

// A /tmp and a /dev/shm that belong to one attempt on one node, and go with it.
//
// A mount namespace that the attempt's processes enter, and we do not: `muster run` waits for us in
// the machine's own /tmp. There /tmp is a directory of the attempt's, which the agent removes with
// the rest, /dev/shm a file system in memory that ends with the last process, and is charged to the
// attempt. Thread promise: before threads. Invariant: nothing outside the namespace sees its
// mounts.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// FailedPrecondition, one line, when an agent of this state directory cannot have it: it is not
// root's, or it keeps its own files below /tmp or /dev/shm, where no other process would find them.
absl::Status MayHavePrivateTmp(const std::string& state);

struct PrivateTmp {
  UniqueFd mounts;  // the namespace
  UniqueFd tmp;     // the directory that is /tmp there, by which others reach it
};

// A namespace with both. `directory` is made, for us alone; in it lies what is /tmp, mode 1777.
absl::StatusOr<PrivateTmp> MakePrivateTmp(const std::string& directory);

}  // namespace muster::agent
