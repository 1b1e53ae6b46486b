#include "daemon/store/accounting.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/store/database/blob.h"
#include "daemon/store/job_store.h"
#include "daemon/store/target_history.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/value/program_record.h"

namespace muster::daemon {
namespace {

std::string JsonIds(const std::vector<JobId>& ids) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(ids.size());
  for (JobId id : ids) {
    numbers.push_back(id.value());
  }
  return NumberList(numbers);
}

// "?, ?" for that many values; of none what no value is.
std::string Marks(std::size_t count) {
  return count == 0 ? "NULL" : absl::StrJoin(std::vector<const char*>(count, "?"), ", ");
}

// The query of a filter: fixed pieces, with a parameter for every value. An operation on a column
// keeps SQLite from walking its index where the ids are the shorter way.
std::string ListQuery(const Database& database, const HistoryFilter& filter) {
  const bool by_id = !filter.jobs.empty();
  std::string sql =
      absl::StrCat("SELECT id, detail FROM history WHERE ", by_id ? "+ended >= ?" : "ended >= ?");
  if (!filter.user.empty()) {
    absl::StrAppend(&sql, " AND ", by_id ? R"("user" || '' = ?)" : R"("user" = ?)");
  }
  if (!filter.states.empty()) {
    absl::StrAppend(&sql, " AND state IN (", Marks(filter.states.size()), ")");
  }
  if (filter.shown.has_value()) {
    absl::StrAppend(&sql, R"( AND ("user" || '' = ? OR account IN ()",
                    Marks(filter.shown->accounts.size()), "))");
  }
  if (!filter.jobs.empty()) {
    absl::StrAppend(&sql, " AND id IN (", database.numbers(),
                    " UNION SELECT id FROM history WHERE submission IN (", database.numbers(),
                    "))");
  }
  return absl::StrCat(sql, " ORDER BY ended DESC, id DESC LIMIT ?");
}

void BindFilter(const HistoryFilter& filter, Statement* statement) {
  int index = 0;
  statement->Bind(++index, std::int64_t{filter.since.time_since_epoch().count()});
  if (!filter.user.empty()) {
    statement->Bind(++index, filter.user);
  }
  for (const std::string& state : filter.states) {
    statement->Bind(++index, state);
  }
  if (filter.shown.has_value()) {
    statement->Bind(++index, filter.shown->user);
    for (const std::string& account : filter.shown->accounts) {
      statement->Bind(++index, account);
    }
  }
  if (!filter.jobs.empty()) {
    const std::string ids = JsonIds(filter.jobs);
    statement->Bind(++index, ids);
    statement->Bind(++index, ids);
  }
  statement->Bind(++index, filter.limit == 0 ? INT64_MAX : std::int64_t{filter.limit});
}

// Rows (id, JobDetail).
absl::StatusOr<std::vector<JobDetail>> ReadDetails(const Database& database, Statement* rows) {
  std::vector<JobDetail> details;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows->Next());
    if (!more) {
      return details;
    }
    JobDetail detail;
    const std::string where = absl::StrCat(database.path(), ": ended job ", rows->Integer(0));
    RETURN_IF_ERROR(Decode(rows->Bytes(1), where, &detail));
    details.push_back(std::move(detail));
  }
}

constexpr std::int64_t kStepsMax = 10'000;

// `open`: nodes have not said that it ended; `over`: its attempt has.
std::string StepState(const StepView& step, bool open, bool over) {
  if (step.start_time == kNoTime) {
    return over || step.end_time != kNoTime ? "CANCELLED" : "PENDING";
  }
  if (open || step.end_time == kNoTime) {
    return over ? "CANCELLED" : "RUNNING";
  }
  return step.exit.success() ? "COMPLETED" : "FAILED";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Accounting>> Accounting::Open(JobStore& store) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, store.OpenReader());
  return std::unique_ptr<Accounting>(new Accounting(std::move(database)));
}

absl::StatusOr<std::vector<JobView>> Accounting::List(const HistoryFilter& filter) {
  const MutexLock hold(&mutex_);
  Statement rows(*database_, ListQuery(*database_, filter));
  BindFilter(filter, &rows);
  ASSIGN_OR_RETURN(std::vector<JobDetail> details, ReadDetails(*database_, &rows));
  std::vector<JobView> views;
  views.reserve(details.size());
  for (JobDetail& detail : details) {
    views.push_back(std::move(detail.job));
  }
  return views;
}

absl::StatusOr<std::vector<JobDetail>> Accounting::Show(
    JobId id, const std::vector<std::uint32_t>& elements) {
  const MutexLock hold(&mutex_);
  Transaction transaction(*database_);
  RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kRead));
  Statement rows(*database_, elements.empty()
                                 ? std::string("SELECT id, detail FROM history "
                                               "WHERE id = ? OR submission = ? ORDER BY id")
                                 : absl::StrCat("SELECT id, detail FROM history WHERE "
                                                "submission = ? AND array_index IN (",
                                                database_->numbers(), ") ORDER BY id"));
  if (elements.empty()) {
    rows.Start(id.value(), id.value());
  } else {
    rows.Start(id.value(), NumberList(elements));
  }
  ASSIGN_OR_RETURN(std::vector<JobDetail> details, ReadDetails(*database_, &rows));
  for (JobDetail& detail : details) {
    ASSIGN_OR_RETURN(detail.attempts, ReadAttempts(detail.job.id));
  }
  return details;
}

absl::StatusOr<std::vector<JobDetail>> Accounting::RunsLike(const JobDetail& job) {
  const std::string program = ProgramLineOf(job.record);
  const MutexLock hold(&mutex_);
  Statement rows(*database_, R"(SELECT id, detail FROM history WHERE "user" = ? AND name = ? AND )"
                             "state = ? AND ended <= ? AND array_index IS NULL "
                             "ORDER BY ended DESC, id DESC LIMIT ?");
  rows.Start(job.job.user, job.job.name, std::string(Name(JobState::kCompleted)),
             std::int64_t{job.job.end_time.time_since_epoch().count()}, std::int64_t{kRunsMost});
  ASSIGN_OR_RETURN(std::vector<JobDetail> runs, ReadDetails(*database_, &rows));
  std::erase_if(runs, [&](const JobDetail& run) {
    return run.job.restarts > 0 || run.job.het_size > 0 || run.job.tasks != job.job.tasks ||
           run.job.cpus != job.job.cpus || run.job.gpus != job.job.gpus ||
           run.job.node_count != job.job.node_count || ProgramLineOf(run.record) != program;
  });
  std::reverse(runs.begin(), runs.end());
  // Of those that ended at the same moment it is the last.
  const auto own = std::find_if(runs.begin(), runs.end(),
                                [&job](const JobDetail& run) { return run.job.id == job.job.id; });
  if (own != runs.end()) {
    runs.erase(own + 1, runs.end());
  }
  return runs;
}

absl::StatusOr<std::vector<TargetHistory>> Accounting::Targets(
    const std::vector<DependencyTerm>& terms) {
  const MutexLock hold(&mutex_);
  Transaction transaction(*database_);
  RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kRead));
  return ReadTargets(*database_, terms);
}

absl::StatusOr<std::map<std::string, std::vector<ChargedRun>>> Accounting::Runs(
    const std::string& user, Time since) {
  const MutexLock hold(&mutex_);
  std::map<std::string, std::vector<ChargedRun>> runs;
  Statement rows(*database_,
                 "SELECT account, job, billing, started + suspended, ended FROM attempts "
                 "WHERE \"user\" = ? AND ended >= ? AND billing > 0 ORDER BY started, job");
  rows.Start(user, std::int64_t{since.time_since_epoch().count()});
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return runs;
    }
    runs[std::string(rows.Text(0))].push_back(
        {JobId(rows.Unsigned(1)), BillingRate(rows.Unsigned(2)), Time(Duration(rows.Integer(3))),
         Time(Duration(rows.Integer(4)))});
  }
}

absl::StatusOr<std::vector<AttemptView>> Accounting::Attempts(JobId id) {
  const MutexLock hold(&mutex_);
  return ReadAttempts(id);
}

absl::StatusOr<std::map<JobId, std::vector<AttemptView>>> Accounting::Attempts(
    const std::vector<JobId>& ids) {
  constexpr std::size_t kOfQuery = 10'000;
  const MutexLock hold(&mutex_);
  std::map<JobId, std::vector<AttemptView>> attempts;
  for (std::size_t first = 0; first < ids.size(); first += kOfQuery) {
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(first);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kOfQuery, ids.size() - first));
    Statement rows(*database_,
                   absl::StrCat("SELECT job, number, detail FROM attempts WHERE job IN (",
                                database_->numbers(), ") ORDER BY job, number"));
    rows.Start(JsonIds({begin, begin + count}));
    while (true) {
      ASSIGN_OR_RETURN(const bool more, rows.Next());
      if (!more) {
        break;
      }
      AttemptView attempt;
      const std::string where =
          absl::StrCat(database_->path(), ": attempt ", rows.Integer(0), ".", rows.Integer(1));
      RETURN_IF_ERROR(Decode(rows.Bytes(2), where, &attempt));
      attempt.ranks.clear();
      attempts[JobId(rows.Unsigned(0))].push_back(std::move(attempt));
    }
  }
  return attempts;
}

absl::StatusOr<std::vector<AttemptView>> Accounting::ReadAttempts(JobId id) {
  std::vector<AttemptView> attempts;
  Statement rows(*database_, "SELECT number, detail FROM attempts WHERE job = ? ORDER BY number");
  rows.Start(id.value());
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return attempts;
    }
    AttemptView attempt;
    const std::string where =
        absl::StrCat(database_->path(), ": attempt ", id.value(), ".", rows.Integer(0));
    RETURN_IF_ERROR(Decode(rows.Bytes(1), where, &attempt));
    attempts.push_back(std::move(attempt));
  }
}

absl::StatusOr<std::vector<StepView>> Accounting::Steps(JobId id) {
  const MutexLock hold(&mutex_);
  return ReadSteps(id);
}

absl::StatusOr<std::vector<StepView>> Accounting::ReadSteps(JobId id) {
  // What a run job's own step had is what its attempt had.
  Statement rows(*database_,
                 "SELECT number, step, name, "
                 "CASE WHEN version IS NULL THEN attempts.nodes ELSE steps.nodes END, tasks, "
                 "CASE WHEN version IS NULL THEN attempts.cpus ELSE steps.cpus END, "
                 "CASE WHEN version IS NULL THEN attempts.gpus ELSE steps.gpus END, "
                 "coalesce(queued, 0), "
                 "CASE WHEN version IS NULL THEN attempts.started ELSE coalesce(steps.started, 0) "
                 "END, "
                 "coalesce(steps.ended, 0), steps.exit_code, steps.exit_signal, text, "
                 "steps.user_cpu_ms, steps.system_cpu_ms, steps.peak_memory, open, attempt "
                 "FROM steps LEFT JOIN attempts ON attempts.job = steps.job AND number = attempt "
                 "WHERE steps.job = ? ORDER BY attempt, step LIMIT ?");
  rows.Start(id.value(), kStepsMax);
  std::vector<StepView> steps;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return steps;
    }
    StepView& step = steps.emplace_back();
    step.attempt = AttemptNumber(static_cast<std::uint32_t>(rows.Integer(17)));
    step.step = StepId(static_cast<std::uint32_t>(rows.Integer(1)));
    step.name = std::string(rows.Text(2));
    step.nodes = std::string(rows.Text(3));
    step.tasks = static_cast<std::uint32_t>(rows.Integer(4));
    step.cpus = static_cast<std::uint32_t>(rows.Integer(5));
    step.gpus = static_cast<std::uint32_t>(rows.Integer(6));
    step.queue_time = Time(Duration(rows.Integer(7)));
    step.start_time = Time(Duration(rows.Integer(8)));
    step.end_time = Time(Duration(rows.Integer(9)));
    step.exit = ExitStatus{static_cast<std::int32_t>(rows.Integer(10)),
                           static_cast<std::int32_t>(rows.Integer(11))};
    step.text = std::string(rows.Text(12));
    step.usage.user_cpu = Duration(rows.Integer(13));
    step.usage.system_cpu = Duration(rows.Integer(14));
    step.usage.peak_memory = Bytes(rows.Unsigned(15));
    step.state = StepState(step, rows.Integer(16) > 0, rows.Integer(0) > 0);
  }
}

}  // namespace muster::daemon
