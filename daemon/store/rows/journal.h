#pragma once

// The journal as rows: what its columns say of an event, and reading entries back.
//
// Thread promise: the functions belong to the thread of their database. Invariants: (1) the spec
// and the program of a submission are kept once, in rows of their own; reading puts them back;
// (2) an entry read equals the entry written, but for secrets erased since.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "scheduler/model/change/event.h"

namespace muster::daemon {

// The columns of a journal row beside the payload.
struct JournalColumns {
  const char* kind;  // the wire's name of the event
  std::optional<std::int64_t> job;
  Time time = kNoTime;
};
JournalColumns ColumnsOf(const Event& event);

// Milliseconds since 1970; nullopt (NULL) for kNoTime.
std::optional<std::int64_t> TimeColumn(Time time);

// The version from which on the database has every entry.
absl::StatusOr<Version> ReadJournalBegins(Database& database);

// Whether a journal's entries lack what has rows of its own, as a store's do, or are whole, as an
// archive's.
enum class Entries { kApart, kWhole };

// Calls visit(entry) for each entry from `from` on, in order, until it returns false.
absl::Status ReadJournalRows(Database& database, Version from,
                             const std::function<bool(const JournalEntry&)>& visit,
                             Entries entries = Entries::kApart);

// The same within the caller's transaction.
absl::Status ReadJournalRowsWithin(Database& database, Version from,
                                   const std::function<bool(const JournalEntry&)>& visit,
                                   Entries entries = Entries::kApart);

// Calls visit(event) for the changes of policy, the newest first, at most `limit`.
absl::Status ReadPolicyRows(Database& database, std::uint32_t limit,
                            const std::function<void(const PolicyChanged&)>& visit);

// The submission that the job of that id is of, whole. NotFound when there is none.
absl::StatusOr<JobSubmitted> ReadSubmissionRow(Database& database, JobId job);

// The program of a submission, by its first id, or of a component of a heterogeneous job by its
// own: of a batch job all components have the first one's. NotFound when there is none.
absl::StatusOr<Program> ReadProgramRow(Database& database, JobId job);

// The components after the first of the heterogeneous job of that id.
absl::StatusOr<std::vector<Component>> ReadComponents(Database& database, JobId first);

// The event that started a step. NotFound when there is none.
absl::StatusOr<StepStarted> ReadStepRow(Database& database, JobId job, AttemptNumber attempt,
                                        StepId step);

}  // namespace muster::daemon
