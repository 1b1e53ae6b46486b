#pragma once

// A copy of a file or of a directory with all below it, on file systems that this machine sees.
//
// Modes and times are the original's; links in a tree stay links. Thread promise: any; it blocks.
// Invariants: (1) a name at the destination stands for a whole file, of the size that the original
// had before and after it was read; (2) what has the original's size and time is not copied again;
// (3) copies of others to the same place are not disturbed: what is made meanwhile has `label` in
// its name.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::cli {

// Bytes that are done, of all.
using TellBytes = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct CopiedTree {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;                 // of all files
  std::uint64_t found = 0;                 // of the files, those that were there already
  std::vector<std::string> left_out = {};  // what is neither file, directory nor link
};

// By what it is known whether a source has changed since it was copied.
struct SourceState {
  std::uint64_t fingerprint = 0;  // of names, sizes and times of all files; contents are not read
  std::uint64_t bytes = 0;        // of all files
  friend bool operator==(const SourceState&, const SourceState&) = default;
};

// Of a file, or of all below a directory. An error names the path.
absl::StatusOr<SourceState> StateOfTree(const std::string& from);

// A directory `to` that exists keeps what else is in it. An error names the path.
absl::StatusOr<CopiedTree> CopyTree(const std::string& from, const std::string& to,
                                    const std::string& label, const TellBytes& tell);

}  // namespace muster::cli
