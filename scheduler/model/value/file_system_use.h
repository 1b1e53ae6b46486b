#pragma once

// What was read from and written to single file systems, by the path at which each is mounted.
//
// Pure. Invariants: a list names a mount once, the one with the most bytes first, and at most kMost
// of them; it may name less than what was read and written in all.

#include <cstddef>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/units.h"

namespace muster {

struct FileSystemUse {
  static constexpr std::size_t kMost = 8;

  std::string mount = {};  // "/data"
  Bytes read = {};
  Bytes written = {};
  static constexpr auto Fields(auto list) {
    return list(Field{"mount", &FileSystemUse::mount}, Field{"read", &FileSystemUse::read},
                Field{"written", &FileSystemUse::written});
  }
  friend bool operator==(const FileSystemUse&, const FileSystemUse&) = default;
};

// Adds what a part did to the list of the whole; of more than kMost the largest stay.
void AddFileSystems(const std::vector<FileSystemUse>& part, std::vector<FileSystemUse>& whole);

}  // namespace muster
