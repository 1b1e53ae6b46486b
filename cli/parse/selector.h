#pragma once

// Job selectors: "12", "12_3", "12_[3-5,7]".
//
// Pure; errors as in number.h. Thread promise: safe from any thread. Invariants: `elements` is
// empty (the job, or the whole array) or ascending without repeats.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/ids.h"

namespace muster {

struct JobSelector {
  JobId job;
  std::vector<std::uint32_t> elements;
  friend bool operator==(const JobSelector&, const JobSelector&) = default;
};

absl::StatusOr<JobSelector> ParseSelector(std::string_view text);
absl::StatusOr<std::vector<JobSelector>> ParseSelectors(const std::vector<std::string>& texts);

// A job's number alone, for verbs that take one job.
absl::StatusOr<JobId> ParseJobId(std::string_view text);

}  // namespace muster
