#pragma once

// Which commit a directory's files are of.
//
// Reads the repository; `git` alone judges whether files were changed, as the user, and within a
// tenth of a second. Thread promise: the main thread's. Invariant: a repository that git refuses
// (another user's) or that it is too slow for is kUnknown, never clean.

#include <optional>
#include <string>
#include <vector>

namespace muster::cli {

enum class Changed { kNo, kYes, kUnknown };

struct GitState {
  std::string commit;  // 40 or 64 hex digits
  Changed changed = Changed::kUnknown;
};

// Nothing: the directory is in no repository, or in one without a commit.
std::optional<GitState> GitStateOf(const std::string& directory,
                                   const std::vector<std::string>& environment);

}  // namespace muster::cli
