#pragma once

// A file of an attempt's directory, replaced whole: a reader sees the old content or the new one.
//
// Not synced, unlike WriteFileAtomically: what these files say is void under another boot, or is
// written again. Thread promise: safe from any thread; one writer of a path at a time.

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace muster::agent {

// Makes `path` hold exactly `content`, mode 0600; the error names the path.
absl::Status ReplaceFile(const std::string& path, std::string_view content);

}  // namespace muster::agent
