#pragma once

// `muster kernel scale` and `muster kernel run stream --compare-binding`: a kernel run several
// times in several ways, side by side.
//
// Thread promise: the main thread; waits for each run. Invariant: runs follow one upon another, so
// that none disturbs another.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/environment.h"
#include "cli/kernel_catalogue.h"

namespace muster {

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

// The `--n` of a weak run: so many times the work of `n`, for a kernel whose work grows as n to the
// `power`.
long long WeakSize(long long n, int growth, int power);

absl::StatusOr<int> ScaleKernel(const ScaleRequest& request, const Environment& environment);

// Bound to cores, unbound, and all threads on one core, with the ratios.
absl::StatusOr<int> CompareBinding(const BundledKernel& kernel,
                                   const std::vector<std::string>& arguments, bool json,
                                   const Environment& environment);

}  // namespace muster
