#pragma once

// The lines of slurm.conf(5): KEY=VALUE words, several on a line where the first names a thing
// (NodeName, PartitionName, NodeSet).
//
// # begins a comment, a backslash at its end continues a line, Include FILE takes in a file, and
// double quotes hold blanks in a value. Thread promise: as `read` is. Invariants: every line has at
// least one word; errors are InvalidArgument "FILE:LINE: …"; files are at most 8 deep.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::cli {

struct ConfWord {
  std::string key;  // as written
  std::string value;
};

struct ConfLine {
  std::string place;  // "slurm.conf:12"
  std::vector<ConfWord> words;
};

using ConfReader = std::function<absl::StatusOr<std::string>(const std::string& path)>;

// `path` as `read` takes it; an included file is relative to its folder.
absl::StatusOr<std::vector<ConfLine>> ReadConfLines(const std::string& path,
                                                    const ConfReader& read);

}  // namespace muster::cli
