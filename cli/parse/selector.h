#pragma once

// Job selectors: "12", "12_3", "12_[3-5,7]", "12+1"; where several may stand, "[12-15]", too.
//
// Pure; errors as in number.h. Invariants: those of scheduler/model/job/job_selector.h.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/job/job_selector.h"
#include "scheduler/model/value/ids.h"

namespace muster::cli {

absl::StatusOr<JobSelector> ParseSelector(std::string_view text);

// A job, or one step of it: "12.3", "12_4.3"; step 0, also written "12.batch", is its script.
struct StepSelector {
  JobSelector job;
  std::optional<StepId> step;
  friend bool operator==(const StepSelector&, const StepSelector&) = default;
};
absl::StatusOr<StepSelector> ParseStepSelector(std::string_view text);
absl::StatusOr<std::vector<JobSelector>> ParseSelectors(const std::vector<std::string>& texts);

// For verbs that change jobs: the components of a heterogeneous job live and end together, so none
// of them can be named.
absl::StatusOr<std::vector<JobSelector>> ParseWholeJobs(const std::vector<std::string>& texts);

// The id that the selector names: a component's own, else the job's.
JobId NamedId(const JobSelector& selector);
// The selector as a request has it: with a component by its own id.
JobSelector ById(const JobSelector& selector);

// A job's number alone, for verbs that take one job.
absl::StatusOr<JobId> ParseJobId(std::string_view text);

}  // namespace muster::cli
