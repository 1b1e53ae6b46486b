#include "daemon/store/rows/row_eraser.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/store/rows/meta_rows.h"
#include "scheduler/base/status.h"
#include "scheduler/model/view/view.h"

namespace muster::daemon {
namespace {

absl::Status EraseEntries(Database& database, const Drops& drops) {
  Statement erase(database,
                  "DELETE FROM journal WHERE version >= ? AND version <= ? "
                  "AND kind <> 'policy_changed'");
  for (const auto& [from, to] : drops.entries) {
    RETURN_IF_ERROR(erase.Run(from.value(), to.value()));
  }
  Statement erase_cycles(database, "DELETE FROM passes WHERE id <= ?");
  return drops.cycles > 0 ? erase_cycles.Run(drops.cycles) : absl::OkStatus();
}

absl::Status EraseJobs(Database& database, const std::vector<JobId>& jobs) {
  const std::string ids = ListOf(jobs);
  for (const char* rows : {"steps WHERE job", "attempts WHERE job", "history WHERE id"}) {
    Statement erase(database, absl::StrCat("DELETE FROM ", rows, " IN (", database.numbers(), ")"));
    RETURN_IF_ERROR(erase.Run(ids));
  }
  Statement erase_notes(database, absl::StrCat("DELETE FROM job_notes WHERE name = ? AND job IN (",
                                               database.numbers(), ")"));
  for (const JobNoteKind& kind : kJobNotes) {
    RETURN_IF_ERROR(erase_notes.Run(std::string(kind.name), ids));
  }
  return absl::OkStatus();
}

absl::Status EraseSubmissions(Database& database, const std::vector<JobId>& submissions) {
  Statement newest(database, "SELECT first + count FROM submissions ORDER BY first DESC LIMIT 1");
  ASSIGN_OR_RETURN(const bool found, newest.Next());
  const std::int64_t next_job = found ? newest.Integer(0) : 0;
  newest.Reset();
  RETURN_IF_ERROR(RaiseMeta(database, "next_job", next_job));
  const std::string ids = ListOf(submissions);
  for (const char* rows :
       {"loaded WHERE submission", "programs WHERE submission", "submissions WHERE first"}) {
    Statement erase(database, absl::StrCat("DELETE FROM ", rows, " IN (", database.numbers(), ")"));
    RETURN_IF_ERROR(erase.Run(ids));
  }
  return absl::OkStatus();
}

}  // namespace

std::string ListOf(const std::vector<JobId>& ids) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(ids.size());
  for (const JobId id : ids) {
    numbers.push_back(id.value());
  }
  return NumberList(numbers);
}

absl::Status EraseNode(Database& database, NodeId node) {
  RETURN_IF_ERROR(RaiseMeta(database, "next_node", node.Next().value()));
  for (const char* rows : {"nodes WHERE id", "node_health WHERE node", "node_failures WHERE node",
                           "node_power WHERE node", "health WHERE node"}) {
    Statement erase(database, absl::StrCat("DELETE FROM ", rows, " = ?"));
    RETURN_IF_ERROR(erase.Run(node.value()));
  }
  return absl::OkStatus();
}

absl::Status EraseRows(Database& database, const Drops& drops) {
  if (drops.journal_begins.valid()) {
    RETURN_IF_ERROR(RaiseMeta(database, "journal_begins",
                              static_cast<std::int64_t>(drops.journal_begins.value())));
  }
  RETURN_IF_ERROR(EraseEntries(database, drops));
  RETURN_IF_ERROR(drops.jobs.empty() ? absl::OkStatus() : EraseJobs(database, drops.jobs));
  return drops.submissions.empty() ? absl::OkStatus()
                                   : EraseSubmissions(database, drops.submissions);
}

}  // namespace muster::daemon
