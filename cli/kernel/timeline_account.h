#pragma once

// Where the time of each rank of a timeline goes.
//
// Of a rank's GPUs, each from its first range to its last: `compute` is the time in which a kernel
// ran that is no communication; `communication` that in which only kernels of NCCL or RCCL ran, so
// that the rank waited for them; `copies` that in which only copies ran; `idle` the rest. These
// four are the whole. `hidden` is the time of communication beside kernels that compute. What
// a processor does is a range's time without those inside it, by name. Pure. Invariant: a rank is
// there once, the lowest first.

#include <optional>
#include <string>
#include <vector>

#include "cli/frame/json_output.h"
#include "cli/kernel/timeline_parts.h"
#include "cli/page/style.h"

namespace muster::cli {

struct TimedRange {
  std::string name;
  double seconds = 0;
};

struct RankAccount {
  int rank = 0;
  double gpu_seconds = 0;  // of all its GPUs; 0: no range is of a GPU, nor the five that follow
  double compute = 0;
  double communication = 0;
  double hidden = 0;
  double copies = 0;
  double idle = 0;
  double seconds = 0;                 // of `most` and of all that is less
  std::vector<TimedRange> most = {};  // what took most: kernels and copies, or ranges of processors
};

// REQUIRES: lined up. Ranks without any range with a length are left out.
std::vector<RankAccount> AccountsOf(const std::vector<TimelinePart>& parts);

// The rank for which the others wait: it is in communication for less than half of what they are
// in the median, and a twentieth of the time less. nullopt with fewer than two ranks on GPUs.
std::optional<int> AwaitedRank(const std::vector<RankAccount>& accounts);

// "" for none.
std::string AccountPage(const std::vector<RankAccount>& accounts, const Style& style);
// [{"rank","gpu_seconds","compute","communication","hidden","copies","idle","most":
// [{"name","seconds"}]}], in seconds; null without ranges of GPUs
Json AccountDocument(const std::vector<RankAccount>& accounts);

}  // namespace muster::cli
