#pragma once

// The #MUSTER and #SBATCH lines at the head of a batch script, as words.
//
// Directives end at the first line that is neither blank nor a comment, as in Slurm. Words are
// split at blanks; quotes and backslashes protect as in a shell; a word that begins with # starts a
// comment. Pure; what the words mean is job_options' business.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::cli {

struct DirectiveLine {
  int line = 0;  // from 1
  std::vector<std::string> words;
  bool of_slurm = false;  // #SBATCH
  friend bool operator==(const DirectiveLine&, const DirectiveLine&) = default;
};

// An error says "LINE: what is wrong"; the caller puts the script's name in front.
absl::StatusOr<std::vector<DirectiveLine>> ParseDirectives(std::string_view script);

// The lines of each component of a heterogeneous job: cut at the lines "hetjob".
std::vector<std::vector<DirectiveLine>> SplitComponents(const std::vector<DirectiveLine>& lines);

}  // namespace muster::cli
