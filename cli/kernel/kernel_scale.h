#pragma once

// `muster kernel scale` and `muster kernel run stream --compare-binding`: a kernel run several
// times in several ways, side by side.
//
// Thread promise: the main thread; waits for each run. Invariant: runs follow one upon another, so
// that none disturbs another.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"
#include "cli/kernel/kernel_catalogue.h"

namespace muster::cli {

struct ScaleRequest {
  BundledKernel kernel;
  std::vector<int> ranks;  // ascending
  bool weak = false;
  std::string launcher;                // words in front of the number of ranks; MPI kernels only
  std::vector<std::string> arguments;  // the kernel's own
  std::string svg;                     // a path; empty: no picture
  bool json = false;
};

// "1,2,4": ascending, each in 1..4096. InvalidArgument otherwise.
absl::StatusOr<std::vector<int>> ParseRanks(const std::string& text);

// The numbers to run with where none are given: from the fewest that the kernel runs with.
std::string DefaultRanks(const BundledKernel& kernel);

// The `--n` of a run by `ranks` ranks, where `n` is that of one. All of a kernel's work is n^power
// x ranks^work_of_ranks: it stays what one rank's is, or grows with the ranks (`weak`).
long long SizeFor(long long n, int ranks, int power, int work_of_ranks, bool weak);

absl::StatusOr<int> ScaleKernel(const ScaleRequest& request, const Environment& environment);

// Bound to cores, unbound, and all threads on one core, with the ratios.
absl::StatusOr<int> CompareBinding(const BundledKernel& kernel,
                                   const std::vector<std::string>& arguments, bool json,
                                   const Environment& environment);

}  // namespace muster::cli
