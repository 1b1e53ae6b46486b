#pragma once

// "last", wherever a job may be named: the caller's newest job.
//
// Thread promise: as Connection's. Invariant: names without that word are left as they are, and no
// controller is asked for them.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/frame/verb.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// Whether the text names a job by that word: "last", "last_3", "last+1", "last.2".
bool NamesLast(std::string_view text);

// Of these jobs the one that was submitted last; of an array its number. An invalid id: none.
JobId NewestOf(const std::vector<JobView>& jobs);

// The arguments that name jobs, `most` of them at the front, with their numbers.
absl::StatusOr<std::vector<std::string>> WithLast(const Invocation& invocation,
                                                  std::size_t most = kAnyNumber);

}  // namespace muster::cli
