#pragma once

// Words for jobs, wherever one may be named: "last" is the caller's newest job, a job's name their
// newest of that name.
//
// Thread promise: as Connection's. Invariant: numbers are left as they are, and no controller is
// asked for them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/frame/verb.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// Whether the text names a job by a word rather than by its number.
bool NamesByWord(std::string_view text);

// Whether the word is that one: "last", "last_3", "last+1", "last.2".
bool NamesLast(std::string_view text);

// Of these jobs the one that was submitted last; of an array its number. An invalid id: none.
JobId NewestOf(const std::vector<JobView>& jobs);

// The text with the number of one of these jobs for its word: of "train_3" the newest job of that
// name, else element 3 of the newest that is named "train". None: no job is so named.
std::optional<std::string> WithNumber(const std::vector<JobView>& jobs, std::string_view text);

// The arguments that name jobs, `most` of them at the front, with their numbers. Of jobs that have
// ended, the user's newest thousand are looked at. NotFound when one is of no job.
absl::StatusOr<std::vector<std::string>> WithNumbers(const Invocation& invocation,
                                                     std::size_t most = kAnyNumber);

// Of the user who calls, as the controller names them in jobs.
std::string OwnUserName();

}  // namespace muster::cli
