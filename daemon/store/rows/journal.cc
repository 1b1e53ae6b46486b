#include "daemon/store/rows/journal.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/store/database/blob.h"
#include "daemon/store/rows/meta_rows.h"
#include "daemon/store/rows/program_secret.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

JournalColumns About(const char* kind, JobId job, Time time) {
  return {kind, static_cast<std::int64_t>(job.value()), time};
}

JournalColumns AboutNode(const char* kind, Time time) {
  return {kind, std::nullopt, time};
}

constexpr const char* kPolicyChanged = "policy_changed";
constexpr std::uint64_t kPiece = 4096;  // rows

struct DescribeEvent {
  JournalColumns operator()(const EpochBegan& e) const { return AboutNode("epoch_began", e.time); }
  JournalColumns operator()(const JobSubmitted& e) const {
    return About("job_submitted", e.first, e.time);
  }
  JournalColumns operator()(const JobHeld& e) const { return About("job_held", e.job, e.time); }
  JournalColumns operator()(const AttemptStarted& e) const {
    return About("attempt_started", e.job, e.time);
  }
  JournalColumns operator()(const RunReported& e) const {
    return About("run_reported", e.report.job,
                 std::visit([](const auto& fact) { return fact.time; }, e.report.fact));
  }
  JournalColumns operator()(const AttemptEnding& e) const {
    return About("attempt_ending", e.job, e.time);
  }
  JournalColumns operator()(const StepStarted& e) const {
    return About("step_started", e.job, e.time);
  }
  JournalColumns operator()(const StepQueued& e) const {
    return About("step_queued", e.job, e.time);
  }
  JournalColumns operator()(const StepDropped& e) const {
    return About("step_dropped", e.job, e.time);
  }
  JournalColumns operator()(const AttemptAdvised& e) const {
    return About("attempt_advised", e.job, e.time);
  }
  JournalColumns operator()(const StartPromised& e) const {
    return About("start_promised", e.job, e.time);
  }
  JournalColumns operator()(const JobEnded& e) const { return About("job_ended", e.job, e.time); }
  JournalColumns operator()(const NodeRegistered& e) const {
    return AboutNode("node_registered", e.time);
  }
  JournalColumns operator()(const NodeLost& e) const { return AboutNode("node_lost", e.time); }
  JournalColumns operator()(const NodeDrained& e) const {
    return AboutNode("node_drained", e.time);
  }
  JournalColumns operator()(const NodePowered& e) const {
    return AboutNode("node_powered", e.time);
  }
  JournalColumns operator()(const AlertBegan& e) const { return AboutNode("alert_began", e.time); }
  JournalColumns operator()(const AlertEnded& e) const { return AboutNode("alert_ended", e.time); }
  JournalColumns operator()(const GpusOccupied& e) const {
    return AboutNode("gpus_occupied", e.time);
  }
  JournalColumns operator()(const LinkNarrowed& e) const {
    return AboutNode("link_narrowed", e.time);
  }
  JournalColumns operator()(const GpuLayoutSet& e) const {
    return AboutNode("gpu_layout_set", e.time);
  }
  JournalColumns operator()(const NodeForgotten& e) const {
    return AboutNode("node_forgotten", e.time);
  }
  JournalColumns operator()(const AttemptQuarantined& e) const {
    return About("attempt_quarantined", e.attempt.job, e.time);
  }
  JournalColumns operator()(const JobRequeued& e) const {
    return About("job_requeued", e.job, e.time);
  }
  JournalColumns operator()(const JobUpdated& e) const {
    return About("job_updated", e.job, e.time);
  }
  JournalColumns operator()(const PolicyChanged& e) const {
    return AboutNode(kPolicyChanged, e.time);
  }
  JournalColumns operator()(const HalfLifeSet& e) const {
    return AboutNode("half_life_set", e.time);
  }
  JournalColumns operator()(const HealthCheckOrdered& e) const {
    return AboutNode("health_check_ordered", e.time);
  }
  JournalColumns operator()(const HealthCheckWanted& e) const {
    return AboutNode("health_check_wanted", e.time);
  }
  JournalColumns operator()(const HealthChecked& e) const {
    return AboutNode("health_checked", e.time);
  }
  JournalColumns operator()(const AttemptSuspending& e) const {
    return About("attempt_suspending", e.job, e.time);
  }
  JournalColumns operator()(const AttemptSuspended& e) const {
    return About("attempt_suspended", e.job, e.time);
  }
  JournalColumns operator()(const AttemptResumed& e) const {
    return About("attempt_resumed", e.job, e.time);
  }
};

std::string Where(const Database& database, const char* table, std::uint64_t key) {
  return absl::StrCat(database.path(), ": ", table, " ", key);
}

// Puts back into events what has rows of its own: specs, programs, and secrets that are not erased.
class Completion {
 public:
  explicit Completion(Database& database) : database_(database) {}

  absl::Status Complete(JournalEntry* entry) {
    if (auto* submitted = std::get_if<JobSubmitted>(&entry->event)) {
      return Complete(submitted);
    }
    if (auto* started = std::get_if<StepStarted>(&entry->event)) {
      return Complete(entry->version, started);
    }
    if (auto* queued = std::get_if<StepQueued>(&entry->event)) {
      return Complete(entry->version, queued);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Complete(JobSubmitted* event) {
    submission_.Start(event->first.value());
    ASSIGN_OR_RETURN(const bool found, submission_.Next());
    const std::string where = Where(database_, "submission", event->first.value());
    if (!found) {
      return Unreadable(where, "in the journal only");
    }
    RETURN_IF_ERROR(Decode(submission_.Bytes(0), where, &event->spec));
    RETURN_IF_ERROR(Decode(submission_.Bytes(1), where, &event->program));
    RETURN_IF_ERROR(PutSecrets(submission_.Bytes(2), where, event));
    submission_.Reset();
    return absl::OkStatus();
  }
  template <class StepEvent>
  absl::Status Complete(Version version, StepEvent* event) {
    step_.Start(event->job.value(), event->attempt.value(), event->step.value(), version.value());
    ASSIGN_OR_RETURN(const bool found, step_.Next());
    if (found) {
      RETURN_IF_ERROR(PutSecret(step_.Bytes(0), Where(database_, "journal entry", version.value()),
                                &event->program));
    }
    step_.Reset();
    return absl::OkStatus();
  }

  Database& database_;
  Statement submission_{database_,
                        "SELECT spec, payload, secret FROM submissions "
                        "JOIN programs ON submission = first WHERE first = ?"};
  Statement step_{database_,
                  "SELECT secret FROM steps "
                  "WHERE job = ? AND attempt = ? AND step = ? AND version = ?"};
};

}  // namespace

JournalColumns ColumnsOf(const Event& event) {
  return std::visit(DescribeEvent(), event);
}

std::optional<std::int64_t> TimeColumn(Time time) {
  return time == kNoTime ? std::nullopt : std::optional(time.time_since_epoch().count());
}

absl::StatusOr<Version> ReadJournalBegins(Database& database) {
  ASSIGN_OR_RETURN(const std::int64_t begins, ReadMeta(database, "journal_begins"));
  return Version(std::max<std::uint64_t>(static_cast<std::uint64_t>(begins), 1));
}

absl::Status ReadJournalRows(Database& database, Version from,
                             const std::function<bool(const JournalEntry&)>& visit,
                             Entries entries) {
  Transaction transaction(database);
  RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kRead));
  return ReadJournalRowsWithin(database, from, visit, entries);
}

absl::Status ReadJournalRowsWithin(Database& database, Version from,
                                   const std::function<bool(const JournalEntry&)>& visit,
                                   Entries entries) {
  // Piece by piece: an engine may hold all rows of one question in memory.
  Statement rows(
      database, "SELECT version, payload FROM journal WHERE version >= ? ORDER BY version LIMIT ?");
  Completion completion(database);
  std::uint64_t rows_of_piece = 0;
  rows.Start(from.value(), kPiece);
  while (true) {
    ASSIGN_OR_RETURN(bool more, rows.Next());
    if (!more && std::exchange(rows_of_piece, 0) == kPiece) {
      rows.Start(from.value(), kPiece);
      ASSIGN_OR_RETURN(more, rows.Next());
    }
    if (!more) {
      return absl::OkStatus();
    }
    JournalEntry entry;
    const std::string where = Where(database, "journal entry", rows.Unsigned(0));
    RETURN_IF_ERROR(Decode(rows.Bytes(1), where, &entry));
    RETURN_IF_ERROR(entries == Entries::kApart ? completion.Complete(&entry) : absl::OkStatus());
    ++rows_of_piece;
    from = entry.version.Next();
    if (!visit(entry)) {
      return absl::OkStatus();
    }
  }
}

absl::Status ReadPolicyRows(Database& database, std::uint32_t limit,
                            const std::function<void(const PolicyChanged&)>& visit) {
  // The words of the partial index, so that it is used.
  Statement rows(database,
                 "SELECT version, payload FROM journal WHERE kind = 'policy_changed' "
                 "ORDER BY version DESC LIMIT ?");
  rows.Start(limit);
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return absl::OkStatus();
    }
    JournalEntry entry;
    const std::string where = Where(database, "journal entry", rows.Unsigned(0));
    RETURN_IF_ERROR(Decode(rows.Bytes(1), where, &entry));
    if (const auto* changed = std::get_if<PolicyChanged>(&entry.event)) {
      visit(*changed);
    }
  }
}

absl::StatusOr<Program> ReadProgramRow(Database& database, JobId job) {
  Statement row(database,
                "SELECT submission, payload, secret FROM programs WHERE submission <= ? "
                "ORDER BY submission DESC LIMIT 1");
  row.Start(job.value());
  ASSIGN_OR_RETURN(const bool found, row.Next());
  const std::string where = Where(database, "submission", job.value());
  if (!found) {
    return absl::NotFoundError(absl::StrCat(where, ": unknown"));
  }
  JobSubmitted submitted;
  submitted.first = JobId(row.Unsigned(0));
  RETURN_IF_ERROR(Decode(row.Bytes(1), where, &submitted.program));
  if (submitted.first != job) {
    ASSIGN_OR_RETURN(submitted.components, ReadComponents(database, submitted.first));
  }
  RETURN_IF_ERROR(PutSecrets(row.Bytes(2), where, &submitted));
  const std::uint64_t offset = job.value() - submitted.first.value();
  if (offset > submitted.components.size()) {
    return absl::NotFoundError(absl::StrCat(where, ": unknown"));
  }
  const bool own = offset > 0 && submitted.components[offset - 1].spec.kind == JobKind::kRun;
  return std::move(own ? submitted.components[offset - 1].program : submitted.program);
}

absl::StatusOr<JobSubmitted> ReadSubmissionRow(Database& database, JobId job) {
  Statement row(database,
                "SELECT first, count, submitted, spec, payload, secret FROM submissions "
                "JOIN programs ON submission = first WHERE first <= ? ORDER BY first DESC LIMIT 1");
  row.Start(job.value());
  ASSIGN_OR_RETURN(const bool found, row.Next());
  const std::string where = Where(database, "submission", job.value());
  if (!found || job.value() - row.Unsigned(0) >= row.Unsigned(1)) {
    return absl::NotFoundError(absl::StrCat(where, ": unknown"));
  }
  JobSubmitted submitted;
  submitted.first = JobId(row.Unsigned(0));
  submitted.count = static_cast<std::uint32_t>(row.Unsigned(1));
  submitted.time = Time(std::chrono::milliseconds(row.Integer(2)));
  RETURN_IF_ERROR(Decode(row.Bytes(3), where, &submitted.spec));
  RETURN_IF_ERROR(Decode(row.Bytes(4), where, &submitted.program));
  if (submitted.count > 1 && !submitted.spec.array.has_value()) {
    ASSIGN_OR_RETURN(submitted.components, ReadComponents(database, submitted.first));
  }
  RETURN_IF_ERROR(PutSecrets(row.Bytes(5), where, &submitted));
  return submitted;
}

absl::StatusOr<std::vector<Component>> ReadComponents(Database& database, JobId first) {
  Statement row(database,
                "SELECT journal.payload FROM submissions JOIN journal USING (version) "
                "WHERE submissions.first = ?");
  row.Start(first.value());
  ASSIGN_OR_RETURN(const bool found, row.Next());
  const std::string where = Where(database, "submission", first.value());
  if (!found) {
    return absl::NotFoundError(absl::StrCat(where, ": unknown"));
  }
  JournalEntry entry;
  RETURN_IF_ERROR(Decode(row.Bytes(0), where, &entry));
  if (auto* submitted = std::get_if<JobSubmitted>(&entry.event)) {
    return std::move(submitted->components);
  }
  return Unreadable(where, "another event than its submission");
}

absl::StatusOr<StepStarted> ReadStepRow(Database& database, JobId job, AttemptNumber attempt,
                                        StepId step) {
  Statement row(database,
                "SELECT journal.payload, steps.secret FROM steps JOIN journal USING (version) "
                "WHERE steps.job = ? AND steps.attempt = ? AND steps.step = ?");
  row.Start(job.value(), attempt.value(), step.value());
  ASSIGN_OR_RETURN(const bool found, row.Next());
  const std::string where = absl::StrCat(database.path(), ": step ", job.value(), ".",
                                         attempt.value(), ".", step.value());
  if (!found) {
    return absl::NotFoundError(absl::StrCat(where, ": unknown"));
  }
  JournalEntry entry;
  RETURN_IF_ERROR(Decode(row.Bytes(0), where, &entry));
  if (auto* started = std::get_if<StepStarted>(&entry.event)) {
    RETURN_IF_ERROR(PutSecret(row.Bytes(1), where, &started->program));
    return std::move(*started);
  }
  if (auto* queued = std::get_if<StepQueued>(&entry.event)) {
    RETURN_IF_ERROR(PutSecret(row.Bytes(1), where, &queued->program));
    StepStarted later;
    later.job = queued->job;
    later.attempt = queued->attempt;
    later.step = queued->step;
    later.token = std::move(queued->token);
    later.name = std::move(queued->name);
    later.program = std::move(queued->program);
    return later;
  }
  return Unreadable(where, "another event than its start");
}

}  // namespace muster::daemon
