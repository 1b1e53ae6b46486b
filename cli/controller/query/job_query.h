#pragma once

// Which jobs a reading verb shows: its options and arguments as a filter, and what was not found.
//
// Invariants: an array's number stands for all of its elements; state names are the canonical ones,
// however the user wrote them.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/controller/connection.h"
#include "cli/controller/query/job_choice.h"
#include "cli/frame/verb.h"
#include "cli/parse/selector.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// --me, --user, --account and so on: what queue, history and cancel share.
std::vector<Option> JobChoiceOptions();
// The same with --noheader.
std::vector<Option> JobQueryOptions();

struct JobQuery {
  JobFilter filter;
  std::vector<JobSelector> selectors;  // as the user gave them; empty: all jobs
  JobChoice choice;                    // the same and more: what the answer is held to

  // Whether an option chooses among the jobs.
  [[nodiscard]] bool narrows() const;
};

// The jobs that the query means, of those that its filter let through.
std::vector<JobView> Chosen(const JobQuery& query, std::vector<JobView> jobs);

// `--state` names the state directory, as everywhere, unless its value is a list of job states:
// then it means --states, and is taken out of `invocation`.
absl::StatusOr<JobQuery> ReadJobQuery(Invocation& invocation);

// "R,pending" as canonical names; InvalidArgument names the piece that is none.
absl::StatusOr<std::vector<std::string>> ParseStates(const std::string& text);

// A moment in the past: YYYY-MM-DD[THH:MM[:SS]], HH:MM (the last one), today, yesterday,
// now-2hours, 2h, 90m, 3d.
absl::StatusOr<Time> ParseSince(const std::string& text, Time now, absl::TimeZone zone);
// The same of an option's value, in the local zone; `unless_given` where it is not given.
absl::StatusOr<Time> ReadPast(const Invocation& invocation, const std::string& option, Time now,
                              Time unless_given);

// The selectors that name none of `jobs`, as the user would write them.
std::vector<std::string> Missing(const std::vector<JobView>& jobs,
                                 const std::vector<JobSelector>& selectors);
// "12", "12_3", "12_[3-5]".
std::string ToText(const JobSelector& selector);

}  // namespace muster::cli
