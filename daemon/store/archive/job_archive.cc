#include "daemon/store/archive/job_archive.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/store/archive/archive_files.h"
#include "daemon/store/archive/compressed_file.h"
#include "daemon/store/database/schema.h"
#include "daemon/store/database/table_rows.h"
#include "daemon/store/rows/row_eraser.h"
#include "scheduler/base/status.h"
#include "scheduler/model/view/view.h"

namespace muster::daemon {
namespace {

constexpr std::int64_t kJobsOfLoad = 128;
constexpr const char* kJobsWork = "work-jobs.db";

// Tables with rows of jobs, in the order in which they name one another, and how.
struct JobTable {
  const char* name;
  const char* condition;  // before a list of ids
  bool of_submission;
};

constexpr std::array<JobTable, 5> kJobTables = {{{"submissions", "first IN (", true},
                                                 {"programs", "submission IN (", true},
                                                 {"history", "id IN (", false},
                                                 {"attempts", "job IN (", false},
                                                 {"steps", "job IN (", false}}};

// Calls visit(table, condition) for each selection that has rows of these.
template <class Visit>
absl::Status ForEachSelection(Database& store, const std::vector<JobId>& submissions,
                              const std::vector<JobId>& jobs, const Visit& visit) {
  for (const JobTable& table : kJobTables) {
    const std::vector<JobId>& ids = table.of_submission ? submissions : jobs;
    if (!ids.empty()) {
      const RowFilter rows{absl::StrCat(table.condition, store.numbers(), ")"), {ListOf(ids)}};
      RETURN_IF_ERROR(visit(TableNamed(table.name), rows));
    }
  }
  for (const JobNoteKind& kind : kJobNotes) {
    if (!jobs.empty()) {
      const RowFilter rows{absl::StrCat("name = ? AND job IN (", store.numbers(), ")"),
                           {std::string(kind.name), ListOf(jobs)}};
      RETURN_IF_ERROR(visit(TableNamed("job_notes"), rows));
    }
  }
  return absl::OkStatus();
}

absl::Status CopyJobs(Database& store, Database& file, const std::vector<Drops>& pieces) {
  const auto copy = [&](const TableOf& table, const RowFilter& rows) {
    return CopyTable(store, file, table, rows).status();
  };
  Transaction writing(file);
  RETURN_IF_ERROR(writing.Begin(Transaction::Kind::kWrite));
  for (const Drops& piece : pieces) {
    RETURN_IF_ERROR(ForEachSelection(store, piece.submissions, {}, copy));
  }
  for (const Drops& piece : pieces) {
    RETURN_IF_ERROR(ForEachSelection(store, {}, piece.jobs, copy));
  }
  return writing.Commit();
}

// What is in the file, as its name says it.
absl::StatusOr<std::vector<std::uint64_t>> NumbersOf(Database& file) {
  Statement rows(file, "SELECT min(ended), max(ended), count(*) FROM history");
  ASSIGN_OR_RETURN(const bool found, rows.Next());
  MUSTER_CHECK(found);
  return std::vector<std::uint64_t>{rows.Unsigned(0), rows.Unsigned(1), rows.Unsigned(2)};
}

absl::StatusOr<std::set<std::uint64_t>> Present(Database& store, const char* select,
                                                const std::vector<JobId>& ids) {
  Statement rows(store, absl::StrCat(select, " IN (", store.numbers(), ")"));
  rows.Start(ListOf(ids));
  std::set<std::uint64_t> present;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return present;
    }
    present.insert(rows.Unsigned(0));
  }
}

absl::StatusOr<std::vector<TableRow>> ReadRows(Database& file, const TableOf& table,
                                               const RowFilter& filter) {
  TablePages pages(file, table, filter);
  std::vector<TableRow> rows;
  while (true) {
    ASSIGN_OR_RETURN(std::vector<TableRow> page, pages.Next());
    if (page.empty()) {
      return rows;
    }
    std::move(page.begin(), page.end(), std::back_inserter(rows));
  }
}

}  // namespace

absl::StatusOr<std::string> WriteJobs(Database& store, const std::string& directory,
                                      const std::vector<Drops>& pieces) {
  const std::string work = absl::StrCat(directory, "/", kJobsWork);
  std::string path;
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<SqliteDatabase> file, OpenWorkFile(work, false));
    RETURN_IF_ERROR(CopyJobs(store, *file, pieces));
    ASSIGN_OR_RETURN(const std::vector<std::uint64_t> numbers, NumbersOf(*file));
    path = absl::StrCat(directory, "/", NameOf(kEndedJobsName, numbers));
  }
  const absl::Status compressed = CompressFile(work, path);
  unlink(work.c_str());
  RETURN_IF_ERROR(compressed);
  return path;
}

ArchivedJobs::ArchivedJobs(std::unique_ptr<Database> file, std::string unpacked, JobId after)
    : file_(std::move(file)), unpacked_(std::move(unpacked)), last_(after) {}

ArchivedJobs::~ArchivedJobs() {
  unlink(unpacked_.c_str());
}

absl::StatusOr<std::unique_ptr<ArchivedJobs>> ArchivedJobs::Open(const std::string& directory,
                                                                 const std::string& name,
                                                                 JobId after) {
  if (NumbersIn(name, kEndedJobsName).empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": no file of ended jobs; muster archive list names them"));
  }
  const std::string path = absl::StrCat(directory, "/", name);
  if (access(path.c_str(), F_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat(name, ": not in the archive; muster archive list names what is"));
  }
  std::string unpacked = absl::StrCat(directory, "/load-XXXXXX");
  const int made = mkstemp(unpacked.data());
  if (made < 0) {
    return absl::ErrnoToStatus(errno, directory);
  }
  close(made);
  const absl::Status whole = DecompressFile(path, unpacked);
  absl::StatusOr<std::unique_ptr<SqliteDatabase>> file =
      whole.ok() ? OpenWorkFile(unpacked, true)
                 : absl::StatusOr<std::unique_ptr<SqliteDatabase>>(whole);
  if (!file.ok()) {
    unlink(unpacked.c_str());
    return file.status();
  }
  return std::unique_ptr<ArchivedJobs>(
      new ArchivedJobs(*std::move(file), std::move(unpacked), after));
}

absl::StatusOr<std::optional<Loads>> ArchivedJobs::Next(Database& store, Time until) {
  Statement rows(*file_, "SELECT id, submission FROM history WHERE id > ? ORDER BY id LIMIT ?");
  rows.Start(last_.value(), kJobsOfLoad);
  std::vector<std::pair<JobId, JobId>> jobs;
  std::vector<JobId> ids;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      break;
    }
    ids.emplace_back(rows.Unsigned(0));
    jobs.emplace_back(ids.back(), JobId(rows.Unsigned(1)));
  }
  if (jobs.empty()) {
    return std::optional<Loads>();
  }
  last_ = ids.back();
  ASSIGN_OR_RETURN(const std::set<std::uint64_t> present,
                   Present(store, "SELECT id FROM history WHERE id", ids));
  Loads loads;
  loads.until = until;
  ids.clear();
  for (const auto& [job, submission] : jobs) {
    if (present.count(job.value()) == 0) {
      ids.push_back(job);
      loads.submissions.push_back(submission);
    }
  }
  std::sort(loads.submissions.begin(), loads.submissions.end());
  loads.submissions.erase(std::unique(loads.submissions.begin(), loads.submissions.end()),
                          loads.submissions.end());
  missing_ += ids.size();
  present_ += present.size();
  RETURN_IF_ERROR(ForEachSelection(
      *file_, loads.submissions, ids,
      [&](const TableOf& table, const RowFilter& filter) -> absl::Status {
        ASSIGN_OR_RETURN(std::vector<TableRow> read, ReadRows(*file_, table, filter));
        loads.rows.push_back({&table, std::move(read)});
        return absl::OkStatus();
      }));
  return std::optional<Loads>(std::move(loads));
}

}  // namespace muster::daemon
