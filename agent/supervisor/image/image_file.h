#pragma once

// Reads a file of an image without leaving the image: every link in it, up to its last component,
// is followed as the container's own programs would follow it.
//
// Thread promise: the caller's thread. Invariant: nothing outside `root` is read (openat2(2),
// RESOLVE_IN_ROOT).

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace muster::agent {

// NotFound when it is absent, or no plain file.
absl::StatusOr<std::string> ReadInRoot(const std::string& root, const std::string& path,
                                       std::size_t bytes_max);

// `text`, a file as passwd(5) or group(5), with `line` before it, unless a line has that number.
std::string WithEntry(const std::string& text, const std::string& line, unsigned id);

}  // namespace muster::agent
