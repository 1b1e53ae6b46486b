#pragma once

// Whether another user could change what a path names: the file itself, or by way of a directory or
// a symbolic link on the way to it.
//
// Invariant: a path that passes can be changed by us, by root and by the owner of the file system's
// root alone, as long as nobody of these changes modes.

#include <string>

#include "absl/status/status.h"

namespace muster {

// OK when the file at `path` and each directory and link on the way belong to us, to root or to the
// owner of "/", and nobody else may write to them: not everybody, and no group but our own. A
// sticky directory (/tmp) may be written by all. Of a descriptor of ours (/dev/fd/3, as of a
// shell's
// <(…)) what counts is the open file or pipe itself. Errors: PermissionDenied names the one that is
// wrong, its mode and the mend; NotFound; FailedPrecondition after too many links.
absl::Status CheckTrustedPath(const std::string& path);

}  // namespace muster
