#include "daemon/events/event_note.h"

#include <cstdint>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/core/state/tables/usage_keys.h"
#include "scheduler/model/job/array.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/machine/amounts.h"

namespace muster::daemon {
namespace {

using Data = std::vector<std::pair<const char*, NoteValue>>;

std::int64_t Number(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

EventNote About(const char* type, Time time) {
  EventNote note;
  note.type = type;
  note.time = time;
  return note;
}

EventNote AboutJob(const char* type, JobId job, Time time, Data data) {
  EventNote note = About(type, time);
  note.job = job;
  note.data = std::move(data);
  return note;
}

EventNote AboutNode(const char* type, NodeId node, Time time, Data data) {
  EventNote note = About(type, time);
  note.node = node;
  note.data = std::move(data);
  return note;
}

// Of a job, whose facts the state may not have any more, it says whose it is itself.
EventNote AboutAlert(const char* type, const Alert& alert, Time time) {
  EventNote note = About(type, time);
  note.job = alert.job;
  note.node_name = alert.node;
  note.data = {{"rule", alert.rule},
               {"severity", alert.severity},
               {"about", alert.subject},
               {"text", alert.text},
               {"since", IsoText(alert.since)}};
  if (alert.job.valid()) {
    note.facts.job = note.facts.submission = alert.job;
    note.facts.label = alert.label;
    note.facts.user = alert.user;
  }
  return note;
}

std::vector<std::string> NoticesOf(const std::vector<std::string>& recorded) {
  std::vector<std::string> notices;
  for (const std::string& option : recorded) {
    if (absl::StartsWith(option, "mail-") || absl::StartsWith(option, "notify=")) {
      notices.push_back(option);
    }
  }
  return notices;
}

JobFacts FactsOf(JobId job, JobId submission, const JobSpec& spec) {
  return {job,
          submission,
          ToString(job),
          spec.name,
          spec.user.name,
          spec.account,
          core::EffectivePartition(spec.partition),
          NoticesOf(spec.recorded)};
}

void AddExit(const ExitStatus& status, Data& data) {
  data.emplace_back("exit_code", std::int64_t{status.code});
  data.emplace_back("exit_signal", std::int64_t{status.signal});
}

// What the supervisors tell of an attempt.
struct FactNote {
  const RunReported& reported;

  [[nodiscard]] EventNote Of(const char* type, Time time, Data data = {}) const {
    EventNote note = AboutJob(type, reported.report.job, time, std::move(data));
    note.node = reported.node;
    note.data.emplace_back("attempt", Number(reported.report.attempt.value()));
    return note;
  }
  std::optional<EventNote> operator()(const RunStarted& fact) const {
    return Of("muster.job.running", fact.time);
  }
  std::optional<EventNote> operator()(const BindingRead& /*fact*/) const { return std::nullopt; }
  std::optional<EventNote> operator()(const StepEnded& fact) const {
    EventNote note = Of("muster.step.ended", fact.time, {{"step", Number(fact.step.value())}});
    for (const RankExit& rank : fact.ranks) {
      if (!rank.status.success()) {
        note.data.emplace_back("rank", std::int64_t{rank.rank});
        AddExit(rank.status, note.data);
        break;
      }
    }
    return note;
  }
  std::optional<EventNote> operator()(const RunEnded& fact) const {
    EventNote note = Of("muster.job.left_node", fact.time, {{"text", fact.text}});
    AddExit(fact.status, note.data);
    note.data.emplace_back("out_of_memory", fact.cause == EndCause::kOutOfMemory);
    note.data.emplace_back("hung", fact.cause == EndCause::kHung);
    if (!fact.node_fault.empty()) {
      note.data.emplace_back("node_fault", fact.node_fault);
    }
    return note;
  }
  std::optional<EventNote> operator()(const RunSuspended& /*fact*/) const { return std::nullopt; }
  std::optional<EventNote> operator()(const RunCheckpointed& fact) const {
    return Of(
        "muster.job.checkpointed", fact.time,
        {{"checkpoints", Number(fact.record.count)}, {"bytes", Number(fact.record.bytes.value())}});
  }
};

struct Teller {
  std::optional<EventNote> operator()(const EpochBegan& event) const {
    EventNote note = About("muster.controller.started", event.time);
    note.data.emplace_back("epoch", Number(event.epoch.value()));
    return note;
  }
  std::optional<EventNote> operator()(const JobSubmitted& event) const {
    EventNote note = AboutJob("muster.job.submitted", event.first, event.time,
                              {{"state", std::string(Name(JobState::kPending))},
                               {"count", Number(event.count)},
                               {"held", event.spec.held}});
    note.facts = FactsOf(event.first, event.first, event.spec);
    return note;
  }
  std::optional<EventNote> operator()(const JobHeld& event) const {
    return AboutJob(event.held ? "muster.job.held" : "muster.job.released", event.job, event.time,
                    {});
  }
  std::optional<EventNote> operator()(const AttemptStarted& event) const {
    std::vector<std::string> nodes;
    for (const NodeAllocation& part : event.allocation.nodes) {
      nodes.push_back(part.name);
    }
    const Amounts amounts = AmountsOf(event.allocation);
    return AboutJob("muster.job.started", event.job, event.time,
                    {{"state", std::string(Name(JobState::kConfiguring))},
                     {"attempt", Number(event.attempt.value())},
                     {"nodes", std::move(nodes)},
                     {"cpus", Number(amounts.cpus)},
                     {"gpus", Number(amounts.gpus)}});
  }
  std::optional<EventNote> operator()(const RunReported& event) const {
    return std::visit(FactNote{event}, event.report.fact);
  }
  std::optional<EventNote> operator()(const AttemptEnding& event) const {
    return AboutJob("muster.job.ending", event.job, event.time,
                    {{"attempt", Number(event.attempt.value())}, {"text", event.text}});
  }
  std::optional<EventNote> operator()(const StepStarted& event) const {
    return AboutJob("muster.step.started", event.job, event.time,
                    {{"attempt", Number(event.attempt.value())},
                     {"step", Number(event.step.value())},
                     {"step_name", event.name}});
  }
  std::optional<EventNote> operator()(const StepQueued& event) const {
    return AboutJob("muster.step.queued", event.job, event.time,
                    {{"attempt", Number(event.attempt.value())},
                     {"step", Number(event.step.value())},
                     {"step_name", event.name}});
  }
  std::optional<EventNote> operator()(const StepDropped& event) const {
    return AboutJob("muster.step.dropped", event.job, event.time,
                    {{"attempt", Number(event.attempt.value())},
                     {"step", Number(event.step.value())},
                     {"text", event.text}});
  }
  std::optional<EventNote> operator()(const JobEnded& event) const {
    EventNote note = AboutJob("muster.job.ended", event.job, event.time,
                              {{"state", std::string(Name(event.state))},
                               {"count", Number(event.more) + 1},
                               {"text", event.text}});
    AddExit(event.status, note.data);
    return note;
  }
  std::optional<EventNote> operator()(const NodeRegistered& event) const {
    EventNote note = AboutNode("muster.node.registered", event.node, event.time, {});
    note.node_name = event.registration.name;
    return note;
  }
  std::optional<EventNote> operator()(const NodeLost& event) const {
    return AboutNode("muster.node.lost", event.node, event.time, {});
  }
  std::optional<EventNote> operator()(const NodeDrained& event) const {
    return AboutNode(
        event.drained || event.narrow ? "muster.node.drained" : "muster.node.resumed", event.node,
        event.time,
        {{"text", event.reason}, {"by_health", event.by_health}, {"narrow", event.narrow}});
  }
  std::optional<EventNote> operator()(const LinkNarrowed& event) const {
    EventNote note =
        About(event.narrow ? "muster.link.narrowed" : "muster.link.resumed", event.time);
    note.data = {{"switches", absl::StrCat(event.link.first, ",", event.link.second)},
                 {"by", event.link.by},
                 {"text", event.link.reason}};
    return note;
  }
  std::optional<EventNote> operator()(const NodePowered& event) const {
    return AboutNode("muster.node.power", event.node, event.time,
                     {{"state", std::string(Name(event.state))}});
  }
  std::optional<EventNote> operator()(const GpusOccupied& event) const {
    std::set<std::uint32_t> gpus;
    for (const GpuOccupant& occupant : event.occupants) {
      gpus.insert(occupant.gpu);
    }
    return AboutNode("muster.node.gpus_occupied", event.node, event.time,
                     {{"count", Number(gpus.size())},
                      {"text", event.occupants.empty() ? std::string()
                                                       : OccupantText(event.occupants.front())}});
  }
  std::optional<EventNote> operator()(const GpuLayoutSet& event) const {
    if (event.over) {
      return std::nullopt;
    }
    return AboutNode("muster.node.gpu_layout", event.node, event.time,
                     {{"state", std::string(Name(event.layout.phase))},
                      {"gpu", event.layout.gpu},
                      {"instances", InstancesText(event.layout.instances)},
                      {"text", event.layout.text}});
  }
  std::optional<EventNote> operator()(const NodeForgotten& event) const {
    EventNote note = AboutNode("muster.node.forgotten", event.node, event.time, {});
    note.node_name = event.name;
    return note;
  }
  std::optional<EventNote> operator()(const AlertBegan& event) const {
    return AboutAlert("muster.alert.began", event.alert, event.time);
  }
  std::optional<EventNote> operator()(const AlertEnded& event) const {
    return AboutAlert("muster.alert.ended", event.alert, event.time);
  }
  std::optional<EventNote> operator()(const AttemptQuarantined& event) const {
    return AboutNode(event.over ? "muster.node.quarantine_over" : "muster.node.quarantined",
                     event.node, event.time, {{"unknown_job", Number(event.attempt.job.value())}});
  }
  std::optional<EventNote> operator()(const JobRequeued& event) const {
    return AboutJob("muster.job.requeued", event.job, event.time,
                    {{"state", std::string(Name(JobState::kPending))},
                     {"attempt", Number(event.attempt.value())},
                     {"text", event.text},
                     {"held", event.held},
                     {"preempted", event.preempted}});
  }
  std::optional<EventNote> operator()(const JobUpdated& event) const {
    return AboutJob("muster.job.updated", event.job, event.time, {});
  }
  std::optional<EventNote> operator()(const PolicyChanged& event) const {
    EventNote note = About("muster.policy.changed", event.time);
    note.data = {{"kind", std::string(Name(KindOf(event.object)))},
                 {"name", NameOf(event.object)},
                 {"deleted", event.deleted},
                 {"by", event.by.name},
                 {"text", event.text}};
    return note;
  }
  std::optional<EventNote> operator()(const AttemptSuspending& event) const {
    return AboutJob(
        event.by == SuspendedBy::kReleased ? "muster.job.resuming" : "muster.job.suspending",
        event.job, event.time, {{"text", event.text}});
  }
  std::optional<EventNote> operator()(const AttemptSuspended& event) const {
    return AboutJob("muster.job.suspended", event.job, event.time,
                    {{"state", std::string(Name(JobState::kSuspended))}});
  }
  std::optional<EventNote> operator()(const AttemptResumed& event) const {
    return AboutJob("muster.job.resumed", event.job, event.time,
                    {{"state", std::string(Name(JobState::kRunning))}});
  }
  std::optional<EventNote> operator()(const HalfLifeSet& /*event*/) const { return std::nullopt; }
  std::optional<EventNote> operator()(const HealthCheckOrdered& /*event*/) const {
    return std::nullopt;
  }
  std::optional<EventNote> operator()(const HealthCheckWanted& /*event*/) const {
    return std::nullopt;
  }
  std::optional<EventNote> operator()(const HealthChecked& event) const {
    return AboutNode("muster.node.health_checked", event.node, event.time,
                     {{"check", Number(event.record.number)}, {"text", event.record.text}});
  }
  std::optional<EventNote> operator()(const StartPromised& event) const {
    return AboutJob("muster.job.promised", event.job, event.time,
                    {{"latest_start", std::int64_t{event.by.time_since_epoch().count()}}});
  }
  std::optional<EventNote> operator()(const AttemptAdvised& /*event*/) const {
    return std::nullopt;
  }
};

}  // namespace

std::optional<EventNote> NoteOf(const Event& event) {
  return std::visit(Teller(), event);
}

std::optional<EventNote> NoteOf(const Event& event, const core::ClusterState& state) {
  std::optional<EventNote> note = NoteOf(event);
  if (note.has_value() && !note->knows_job()) {
    if (const Job* const job = state.FindJob(note->job)) {
      note->facts = FactsOf(*job);
    }
  }
  if (note.has_value() && note->node.valid() && note->node_name.empty()) {
    if (const Node* const node = state.FindNode(note->node)) {
      note->node_name = node->name;
    }
  }
  return note;
}

JobFacts FactsOf(const Job& job) {
  JobFacts facts = FactsOf(job.id, job.submission, *job.spec);
  if (job.array_index.has_value()) {
    facts.label = absl::StrCat(job.submission.value(), "_", *job.array_index);
  } else if (IsComponent(job)) {
    facts.label = absl::StrCat(job.submission.value(), "+", OffsetOf(job));
  }
  if (job.attempt.has_value()) {
    facts.partition = core::EffectivePartition(job.attempt->partition);
  }
  return facts;
}

JobFacts FactsOf(const JobView& view, const std::vector<std::string>& recorded) {
  return {view.id,   view.array_job_id, view.label,     view.name,
          view.user, view.account,      view.partition, NoticesOf(recorded)};
}

}  // namespace muster::daemon
