#pragma once

// Lists of named fields: "JobID:10,Name:|,State" of `squeue -O` and `sinfo -O`, and
// "jobid,name%20,state%-10" of sacct and its like.
//
// Pure. Invariant: an empty item, such as what follows a last comma, is none.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/format/percent_format.h"

namespace muster::cli::slurm {

struct NamedField {
  std::string name;  // as it was written
  Slot slot;
  friend bool operator==(const NamedField&, const NamedField&) = default;
};

inline constexpr std::size_t kWideColumn = 20;  // what a field of -O takes when it does not say

// NAME[:[.][SIZE][SUFFIX]]; without a size after the colon, as wide as the value is.
std::vector<NamedField> ParseWideFormat(std::string_view text);

struct SizedField {
  std::string name;
  std::optional<int> width = {};  // negative: to the left
  friend bool operator==(const SizedField&, const SizedField&) = default;
};

// NAME[%[-]SIZE].
std::vector<SizedField> ParseSizedFormat(std::string_view text);

}  // namespace muster::cli::slurm
