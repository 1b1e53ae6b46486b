#pragma once

// Files that hold a secret: only their owner may read them.
//
// Invariant: what ReadPrivateFile returns was read from the very file whose owner and mode were
// looked at.

#include <string>

#include "absl/status/statusor.h"

namespace muster {

// The content of a regular file that belongs to us or to root and that no other user may open. An
// error is one line with the mend.
absl::StatusOr<std::string> ReadPrivateFile(const std::string& path);

}  // namespace muster
