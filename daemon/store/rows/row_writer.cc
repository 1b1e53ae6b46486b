#include "daemon/store/rows/row_writer.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/store/database/blob.h"
#include "daemon/store/rows/health_rows.h"
#include "daemon/store/rows/journal.h"
#include "daemon/store/rows/meta_rows.h"
#include "daemon/store/rows/row_eraser.h"
#include "daemon/store/rows/row_loader.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/array.h"
#include "scheduler/model/value/fingerprint.h"

namespace muster::daemon {
namespace {

constexpr const char* kSpentKind = "spent";
constexpr const char* kUsageKind = "usage";

std::string SpentName(UsageScope scope, const std::string& name, const std::string& user) {
  return absl::StrCat(static_cast<int>(scope), ":", name, "/", user);
}

// The row of what was spent of the object's budgets.
std::string SpentName(const PolicyObject& object) {
  if (const auto* association = std::get_if<AssociationRules>(&object)) {
    return SpentName(UsageScope::kAssociation, association->account, association->user);
  }
  return SpentName(KindOf(object) == PolicyKind::kQos ? UsageScope::kQos : UsageScope::kAccount,
                   NameOf(object), "");
}

bool HasBudgetOf(const PolicyObject& object) {
  return std::visit(
      [](const auto& held) {
        if constexpr (requires { held.limits; }) {
          return HasBudget(held.limits);
        }
        return false;
      },
      object);
}

// True when the submission alone says all there is to say of the job.
bool IsAsSubmitted(const Job& job) {
  return job.spec != nullptr && IsWaiting(job.state) && !job.attempt.has_value() &&
         !job.last_attempt.valid() && job.held == job.spec->held && job.held_by == HoldBy::kUser &&
         job.changed_spec == nullptr && job.promised == kNoTime;
}

// The first id that this batch submits; jobs from there on have no row yet.
JobId FirstNewJob(const Batch& batch) {
  for (const JournalEntry& entry : batch.entries) {
    if (const auto* submitted = std::get_if<JobSubmitted>(&entry.event)) {
      return submitted->first;
    }
  }
  return JobId(std::numeric_limits<JobId::rep>::max());
}

// How many of the first of them are submissions of their own with ids in a row; none has live jobs
// between them then.
std::size_t AloneInARow(std::span<const EndedJob> ended) {
  std::size_t count = 0;
  while (count < ended.size() && ended[count].id == ended[count].submission &&
         ended[count].detail.job.indices.empty() &&
         (count == 0 || ended[count].id == ended[count - 1].id.Next())) {
    ++count;
  }
  return count;
}

// Calls visit(job) for it, or for each of the elements that it stands for.
absl::Status ForEachOf(const EndedJob& ended,
                       const std::function<absl::Status(const EndedJob&)>& visit) {
  if (ended.detail.job.indices.empty()) {
    return visit(ended);
  }
  EndedJob element = ended;
  const ArraySpec elements{std::move(element.detail.job.indices), 0};
  element.detail.job.indices.clear();
  absl::Status status;
  ForEachElement(elements, [&](std::uint32_t index) {
    if (status.ok()) {
      JobView& job = element.detail.job;
      job.id = element.id;
      job.array_task_id = absl::StrCat(index);
      job.label = absl::StrCat(ended.submission.value(), "_", index);
      status = visit(element);
      element.id = element.id.Next();
    }
  });
  return status;
}

std::optional<std::int64_t> ArrayIndexColumn(const std::string& task) {
  std::int64_t index = 0;
  return absl::SimpleAtoi(task, &index) ? std::optional(index) : std::nullopt;
}

// "verified 6, differs 1": how many ranks each verdict was given.
std::string BindingColumn(const std::vector<RankView>& ranks) {
  std::map<std::string, int> counts;
  for (const RankView& rank : ranks) {
    ++counts[rank.verdict];
  }
  return absl::StrJoin(counts, ", ", absl::PairFormatter(" "));
}

}  // namespace

absl::Status RowWriter::Write(const Batch& batch) {
  for (const JournalEntry& entry : batch.entries) {
    RETURN_IF_ERROR(WriteEntry(entry));
  }
  const JobId first_new = FirstNewJob(batch);
  for (const Job& job : batch.jobs) {
    RETURN_IF_ERROR(WriteJob(job, first_new));
  }
  RETURN_IF_ERROR(WriteEnded(batch.ended));
  for (const EndedAttempt& ended : batch.attempts) {
    RETURN_IF_ERROR(WriteAttempt(ended));
  }
  for (const Node& node : batch.nodes) {
    RETURN_IF_ERROR(WriteNode(node));
  }
  for (const Spent& spent : batch.spent) {
    RETURN_IF_ERROR(WriteSpent(spent));
  }
  for (const AccountUsage& usage : batch.usage) {
    RETURN_IF_ERROR(WriteUsage(usage));
  }
  for (const CycleRecord& cycle : batch.cycles) {
    RETURN_IF_ERROR(WriteCycle(cycle));
  }
  for (const NodeHealth& health : batch.health) {
    RETURN_IF_ERROR(WriteHealth(health));
  }
  for (const FailureTally& tally : batch.tallies) {
    RETURN_IF_ERROR(WriteTally(tally));
  }
  for (const NodePower& power : batch.power) {
    RETURN_IF_ERROR(WritePower(power, database_));
  }
  for (const Tuning& tuning : batch.tunings) {
    RETURN_IF_ERROR(kept_.Write(tuning));
  }
  for (const auto& [job, note] : batch.notes) {
    RETURN_IF_ERROR(kept_.Write(job, note));
  }
  for (const Drops& drops : batch.drops) {
    RETURN_IF_ERROR(EraseRows(database_, drops));
  }
  for (const Loads& loads : batch.loads) {
    RETURN_IF_ERROR(LoadRows(database_, loads));
  }
  return absl::OkStatus();
}

absl::Status RowWriter::WriteEntry(const JournalEntry& entry) {
  if (const auto* submitted = std::get_if<JobSubmitted>(&entry.event)) {
    return WriteSubmission(entry, *submitted);
  }
  if (const auto* started = std::get_if<StepStarted>(&entry.event)) {
    return WriteStepEntry(entry.version, *started);
  }
  if (const auto* queued = std::get_if<StepQueued>(&entry.event)) {
    return WriteStepEntry(entry.version, *queued);
  }
  RETURN_IF_ERROR(InsertEntry(entry));
  return WriteEvent(entry.event);
}

absl::Status RowWriter::InsertEntry(const JournalEntry& entry) {
  Encode(entry, &payload_);
  const JournalColumns columns = ColumnsOf(entry.event);
  return insert_entry_.Run(entry.version.value(), TimeColumn(columns.time), columns.kind,
                           columns.job, Blob{payload_});
}

absl::Status RowWriter::WriteEvent(const Event& event) {
  if (const auto* began = std::get_if<EpochBegan>(&event)) {
    RETURN_IF_ERROR(PutMeta(database_, "half_life", began->half_life.count()));
    if (began->next_job.valid()) {
      RETURN_IF_ERROR(
          RaiseMeta(database_, "next_job", static_cast<std::int64_t>(began->next_job.value())));
    }
    return PutMeta(database_, "epoch", static_cast<std::int64_t>(began->epoch.value()));
  }
  if (const auto* set = std::get_if<HalfLifeSet>(&event)) {
    return PutMeta(database_, "half_life", set->half_life.count());
  }
  if (const auto* policy = std::get_if<PolicyChanged>(&event)) {
    return WritePolicy(*policy);
  }
  if (const auto* unknown = std::get_if<AttemptQuarantined>(&event)) {
    return RaiseMeta(database_, "next_job",
                     static_cast<std::int64_t>(unknown->attempt.job.Next().value()));
  }
  if (const auto* checked = std::get_if<HealthChecked>(&event)) {
    return WriteCheck(*checked);
  }
  if (const auto* forgotten = std::get_if<NodeForgotten>(&event)) {
    return EraseNode(database_, forgotten->node);
  }
  if (const auto* alert_began = std::get_if<AlertBegan>(&event)) {
    return WriteAlert(alert_began->alert, database_);
  }
  if (const auto* alert_ended = std::get_if<AlertEnded>(&event)) {
    return EraseAlert(alert_ended->alert, database_);
  }
  if (const auto* narrowed = std::get_if<LinkNarrowed>(&event)) {
    return narrowed->narrow ? WriteNarrowLink(narrowed->link, database_)
                            : EraseNarrowLink(narrowed->link, database_);
  }
  if (const auto* dropped = std::get_if<StepDropped>(&event)) {
    return steps_.Write(*dropped);
  }
  if (const auto* reported = std::get_if<RunReported>(&event)) {
    if (const auto* ended = std::get_if<StepEnded>(&reported->report.fact)) {
      return steps_.Write(*reported, *ended);
    }
  }
  return absl::OkStatus();
}

// The spec and the program go into rows of their own and not, a second time, into the journal; the
// secrets of the program and of the components' into a third place, from which they can be erased.
absl::Status RowWriter::WriteSubmission(const JournalEntry& entry, const JobSubmitted& event) {
  JobSubmitted bare;
  bare.first = event.first;
  bare.count = event.count;
  bare.token = event.token;
  bare.time = event.time;
  bare.history = event.history;
  bare.components = event.components;
  bare.estimate = event.estimate;
  bare.program = event.program;
  const std::string secrets = TakeSecrets(scripts_, &bare);
  std::string spec;
  std::string program;
  AppendWire(event.spec, &spec);
  AppendWire(bare.program, &program);
  bare.program = Program();
  RETURN_IF_ERROR(InsertEntry(JournalEntry{entry.version, std::move(bare)}));
  RETURN_IF_ERROR(insert_submission_.Run(
      event.first.value(), event.count, event.count, entry.version.value(), event.token,
      std::int64_t{event.time.time_since_epoch().count()}, Blob{spec}));
  return insert_program_.Run(event.first.value(), Blob{program}, Blob{secrets});
}

template <class StepEvent>
absl::Status RowWriter::WriteStepEntry(Version version, StepEvent event) {
  std::string secret;
  AppendWire(TakeSecret(scripts_, &event.program), &secret);
  JournalEntry entry{version, std::move(event)};
  RETURN_IF_ERROR(InsertEntry(entry));
  return steps_.Write(version, std::get<StepEvent>(entry.event), secret);
}

absl::Status RowWriter::WriteJob(const Job& job, JobId first_new) {
  if (!IsAsSubmitted(job)) {
    Encode(job, &payload_);
    return put_job_.Run(job.id.value(), job.submission.value(), Blob{payload_});
  }
  return job.submission >= first_new ? absl::OkStatus()
                                     : delete_jobs_.Run(job.id.value(), job.id.value());
}

// Jobs that end together are often submissions of their own, one after the other: what is the same
// for all of them takes one statement.
absl::Status RowWriter::WriteEnded(std::span<const EndedJob> ended) {
  while (!ended.empty()) {
    const std::span<const EndedJob> jobs =
        ended.first(std::max<std::size_t>(AloneInARow(ended), 1));
    ended = ended.subspan(jobs.size());
    const JobId first = jobs.front().id;
    const JobId last = jobs.back().id;
    std::int64_t elements = 1;
    if (jobs.front().detail.job.indices.empty()) {
      RETURN_IF_ERROR(delete_jobs_.Run(first.value(), last.value()));
      RETURN_IF_ERROR(steps_.Erase(first, last));
    } else {
      elements = std::int64_t{ElementCount({jobs.front().detail.job.indices, 0})};
    }
    RETURN_IF_ERROR(Close(jobs.front().submission, jobs.back().submission, elements));
    for (const EndedJob& job : jobs) {
      RETURN_IF_ERROR(
          ForEachOf(job, [this](const EndedJob& element) { return WriteHistory(element); }));
    }
  }
  return absl::OkStatus();
}

absl::Status RowWriter::Close(JobId first, JobId last, std::int64_t jobs) {
  RETURN_IF_ERROR(close_element_.Run(jobs, first.value(), last.value()));
  return erase_programs_.Run(Blob{}, first.value(), last.value());
}

absl::Status RowWriter::WriteHistory(const EndedJob& ended) {
  const JobView& job = ended.detail.job;
  Encode(ended.detail, &payload_);
  return insert_history_.Run(
      ended.id.value(), ended.submission.value(), ArrayIndexColumn(job.array_task_id), job.user,
      job.account, job.name, job.state, TimeColumn(job.submit_time), TimeColumn(job.start_time),
      std::int64_t{job.end_time.time_since_epoch().count()}, absl::StrJoin(job.nodes, ","),
      job.cpus, job.memory.value(), job.gpus, job.exit_code, job.exit_signal,
      std::int64_t{job.usage.user_cpu.count()}, std::int64_t{job.usage.system_cpu.count()},
      job.usage.peak_memory.value(), Blob{payload_});
}

absl::Status RowWriter::WriteAttempt(const EndedAttempt& ended) {
  const AttemptView& attempt = ended.attempt;
  Encode(attempt, &payload_);
  return insert_attempt_.Run(
      ended.job.value(), attempt.number.value(), TimeColumn(attempt.start_time),
      TimeColumn(attempt.end_time), absl::StrJoin(attempt.nodes, ","), attempt.cpus,
      attempt.memory.value(), attempt.gpus, attempt.exit.code, attempt.exit.signal, attempt.cause,
      std::int64_t{attempt.usage.user_cpu.count()}, std::int64_t{attempt.usage.system_cpu.count()},
      attempt.usage.peak_memory.value(), BindingColumn(attempt.ranks), Blob{payload_}, ended.user,
      ended.account, attempt.billing.value(), std::int64_t{attempt.suspended.count()});
}

absl::Status RowWriter::WriteNode(const Node& node) {
  Encode(node, &payload_);
  return put_node_.Run(node.id.value(), node.name, Blob{payload_});
}

absl::Status RowWriter::WriteHealth(const NodeHealth& health) {
  Encode(health, &payload_);
  return put_health_.Run(health.node.value(), Blob{payload_});
}

absl::Status RowWriter::WriteTally(const FailureTally& tally) {
  return put_tally_.Run(tally.node.value(), tally.failures, std::int64_t{tally.exposure.count()},
                        std::int64_t{tally.faded.time_since_epoch().count()},
                        std::int64_t{tally.failed.time_since_epoch().count()}, tally.losses);
}

absl::Status RowWriter::WriteCheck(const HealthChecked& event) {
  const std::uint64_t number = event.record.number;
  Encode(event.record, &payload_);
  RETURN_IF_ERROR(put_check_.Run(event.node.value(), number, Blob{payload_}));
  return number > kHealthKept ? forget_checks_.Run(event.node.value(), number - kHealthKept)
                              : absl::OkStatus();
}

absl::Status RowWriter::WritePolicy(const PolicyChanged& event) {
  const char* kind = Name(KindOf(event.object));
  const std::string name = NameOf(event.object);
  if (event.deleted || event.spent_reset || !HasBudgetOf(event.object)) {
    RETURN_IF_ERROR(delete_policy_.Run(kSpentKind, SpentName(event.object)));
  }
  if (event.deleted) {
    return delete_policy_.Run(kind, name);
  }
  Encode(event, &payload_);
  return put_policy_.Run(kind, name, Blob{payload_});
}

absl::Status RowWriter::WriteSpent(const Spent& spent) {
  Encode(spent, &payload_);
  return put_policy_.Run(kSpentKind, SpentName(spent.scope, spent.name, spent.user),
                         Blob{payload_});
}

absl::Status RowWriter::WriteUsage(const AccountUsage& usage) {
  Encode(usage, &payload_);
  return put_policy_.Run(kUsageKind, AssociationName(usage.account, usage.user), Blob{payload_});
}

// The settings go into a row of their own, once.
absl::Status RowWriter::WriteCycle(const CycleRecord& cycle) {
  if (settings_ != cycle.config) {
    const std::uint64_t print = Fingerprint().Add(*cycle.config).value();
    find_settings_.Start(print);
    ASSIGN_OR_RETURN(const bool known, find_settings_.Next());
    find_settings_.Reset();
    if (!known) {
      Encode(*cycle.config, &payload_);
      RETURN_IF_ERROR(insert_settings_.Run(print, Blob{payload_}));
    }
    settings_ = cycle.config;
    settings_print_ = print;
  }
  const std::uint64_t settings = settings_print_;
  return insert_cycle_.Run(cycle.version.value(),
                           std::int64_t{cycle.now.time_since_epoch().count()}, cycle.hash,
                           cycle.follows ? 1 : 0, settings);
}

}  // namespace muster::daemon
