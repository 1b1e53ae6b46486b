#pragma once

// The formats of `squeue -o` and `sinfo -o`: "%.18i %.9P|%j".
//
// A run of % counts as one. What stands before the first % begins each line; what follows a letter,
// up to the next %, stands behind its value. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::cli::slurm {

inline constexpr std::size_t kColumnWidthMax = 4096;

// How a value stands in its column.
struct Slot {
  std::size_t width = 0;  // 0: as wide as the value is
  bool right = false;     // blanks before it, not behind it
  std::string suffix = {};
  friend bool operator==(const Slot&, const Slot&) = default;
};

struct PercentField {
  char letter = 0;
  Slot slot;
  bool flagged = false;  // "%#P"
  friend bool operator==(const PercentField&, const PercentField&) = default;
};

struct PercentFormat {
  std::string prefix;
  std::vector<PercentField> fields;
  friend bool operator==(const PercentFormat&, const PercentFormat&) = default;
};

PercentFormat ParsePercentFormat(std::string_view text);

}  // namespace muster::cli::slurm
