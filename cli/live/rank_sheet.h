#pragma once

// What a job's ranks do, as a table, out of two looks at them.
//
// Pure. Invariants: a rank stands in one row; how busy it was is known of those that were there at
// both looks, and of no other; how much it moved a second, of those whose sums did not go down.

#include <optional>
#include <string>
#include <vector>

#include "cli/page/style.h"
#include "scheduler/model/request/job_questions.h"

namespace muster::cli {

// A rank, and the CPUs that it kept busy between the two looks, in percent of one; bytes that it
// moved a second.
struct RankRow {
  RankUse use;
  std::optional<double> cpu_percent;
  std::optional<double> read = {};
  std::optional<double> written = {};
  std::optional<double> sent = {};
  std::optional<double> received = {};
};

// The rows of `now`. `before` may be empty.
std::vector<RankRow> CompareRanks(const RankTable& before, const RankTable& now);

// With a line for each node that did not answer; what no rank moved, as far as is known, has no
// column.
std::string PrintRanks(const std::vector<RankRow>& rows, const std::vector<std::string>& silent,
                       const Style& style);

}  // namespace muster::cli
