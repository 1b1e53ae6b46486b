#pragma once

// Columns of a list of jobs that the user chose: --format and --sort, by the names of --json.
//
// Pure. Invariants: a name that no document has is an error; jobs that no key tells apart keep
// their order; text is made printable.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/page/style.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct JobColumns {
  std::vector<std::string> names;                  // empty: the usual ones
  std::vector<std::pair<std::string, bool>> sort;  // name, and whether backwards
};

// --format and --sort.
std::vector<Option> JobColumnOptions();

absl::StatusOr<JobColumns> ReadJobColumns(const Invocation& invocation);

// By the keys, one after the other.
void SortJobs(const JobColumns& columns, std::vector<JobView>& jobs);

// REQUIRES: there are names.
std::string PrintJobColumns(const JobColumns& columns, const std::vector<JobView>& jobs,
                            bool header, const Style& style);

}  // namespace muster::cli
