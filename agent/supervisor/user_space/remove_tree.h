#pragma once

// Removing a directory with everything in it, however deep, and nothing outside it.
//
// Works by directory descriptors and never follows a symbolic link, so that what a job left in a
// directory cannot lead us elsewhere. A subdirectory that is not empty is moved up to the top and
// emptied there: the depth is never more than two, and five descriptors do for any tree. Where we
// are root, what lies in another user's directory is removed by a child that has become him
// (as_user.h); root removes what is left then, such as the files of third users.
//
// Thread promise: the caller's thread, which waits for the children. Invariant: it ends soon after
// `limit`, unless the file system hangs in root's own part.

#include <string>

#include "absl/status/status.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

// Removes `path` and its content; no error when it is absent. An error names what stays first;
// everything else that can go has gone.
absl::Status RemoveTree(const std::string& path, Duration limit);

// Removes all that lies in `trash`, the newest first, each with `limit`; the error is the first.
absl::Status SweepTrash(const std::string& trash, Duration limit);

// The same for a process of its own, a minute for each, which dies with its parent; false: the
// first line on the standard error says what stays.
bool SweepForParent(const std::string& trash);

}  // namespace muster::agent
