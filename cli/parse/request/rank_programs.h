#pragma once

// The file of `run --multi-prog`: which ranks run which program, as srun reads it.
//
//   # RANKS PROGRAM ARGS      "0", "1-3,5", or * for those that no other line names
//   0    ./coordinator --port 7000
//   1-3  ./worker --rank %t --of %o
//
// Words stand between blanks, in quotes, or after a backslash; %t is the rank, %o its place among
// the line's, %% a percent sign. Pure. Invariants: every line has a program; no rank is named
// twice.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::cli {

struct RankRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  friend bool operator==(const RankRange&, const RankRange&) = default;
};

struct RankProgram {
  int line = 0;                   // from 1
  std::vector<RankRange> ranks;   // none: all that no other line names
  std::vector<std::string> argv;  // %t and %o as written
};

// An error says "NAME:LINE: what is wrong: the mend".
absl::StatusOr<std::vector<RankProgram>> ParseRankPrograms(std::string_view text,
                                                           const std::string& name);

// How many ranks the lines name: the highest and 1; 0 where a line is for all others.
std::uint32_t RanksNamed(const std::vector<RankProgram>& programs);

// Refuses lines that leave one of `tasks` ranks without a program or name more.
absl::Status CheckRanks(const std::vector<RankProgram>& programs, std::uint32_t tasks,
                        const std::string& name);

// The command that runs, as each rank, the rank's program in its own place.
std::vector<std::string> RankProgramsCommand(const std::vector<RankProgram>& programs,
                                             const std::string& name);

}  // namespace muster::cli
