#pragma once

// Removing a directory with everything in it, however deep, and nothing outside it.
//
// Works by directory descriptors and never follows a symbolic link, so that what a job left in a
// directory cannot lead us elsewhere. A subdirectory that is not empty is moved up to the top and
// emptied there: the depth is never more than two, and few descriptors do for any tree. Where we
// are root, what lies in another user's directory is removed by a child that has become him
// (as_user.h) and has none of his groups, for he may have moved there what belongs to others.
//
// Thread promise: the caller's thread, which waits for the children. Invariants: (1) it ends soon
// after `limit`, unless the file system hangs in root's own part; (2) below the first directory of
// a user's on the way down nothing is removed that this user could not remove.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

// Removes `path` and its content; no error when it is absent. An error names what stays first;
// everything else that can go has gone.
absl::Status RemoveTree(const std::string& path, Duration limit);

// Removes all that lies in `trash`, the newest first, each with `limit`; the error is the first.
// What a user could not remove from a directory of his own is moved, whole, to the quarantine;
// `kept` has a line for each.
absl::Status SweepTrash(const std::string& trash, Duration limit,
                        std::vector<std::string>* kept = nullptr);

// The directory beside the trash for what an administrator must look at: mode 0700, made when
// something comes to it.
std::string QuarantineOf(const std::string& trash);

// SweepTrash for a process of its own, a minute for each, which dies with its parent. The standard
// error has a line for each thing that was moved to the quarantine, and for what stays (false).
bool SweepForParent(const std::string& trash);

}  // namespace muster::agent
