#pragma once

// What one message says of a whole array that has ended.
//
// Pure, but for asking where outputs are. Invariants: it is bounded, however many elements there
// are; a value that nobody measured is not said.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct ArrayDigest {
  bool all_well = true;
  std::string sums;  // "2 COMPLETED, 1 FAILED"
  std::string text;
};

// `ended`: each element that ran, and runs of those that did not. `show`: a job in full, asked for
// a few of them alone.
ArrayDigest DigestOf(std::vector<JobView> ended,
                     const std::function<absl::StatusOr<JobDetail>(JobId job)>& show);

}  // namespace muster::cli
