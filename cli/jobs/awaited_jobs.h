#pragma once

// The jobs that a waiting job depends on: how each stands, and how to go on when one has failed.
//
// Invariant: the text is pure, and says nothing of jobs that are not awaited any more.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct AwaitedJob {
  JobView job;
  // What one that copies files says of itself; 0: nothing.
  double copied = 0;
  double to_copy = 0;
  double rate = 0;  // bytes a second
};

// Empty when it waits for something else. Those that live, and for a dependency that can never be
// met those that ended.
absl::StatusOr<std::vector<AwaitedJob>> AwaitedJobs(Connection& connection, const JobView& waiting);

// A line each, of the first few.
std::string AwaitedText(const JobView& waiting, const std::vector<AwaitedJob>& awaited);

}  // namespace muster::cli
