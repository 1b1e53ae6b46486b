#include "scheduler/core/handle/attempts/group_end.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/core/handle/attempts/attempt_end.h"
#include "scheduler/core/handle/attempts/outcome.h"
#include "scheduler/core/handle/steps/step_queue.h"
#include "scheduler/core/handle/submit/recurring_job.h"
#include "scheduler/core/state/job_group.h"
#include "scheduler/core/state/tables/alternatives.h"
#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/core/state/tables/checkpoint_account.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/value/start_code.h"

namespace muster::core {
namespace {

// Whether the end of the job's part on one node ends it on the others: always for a batch job,
// whose script it was or whose node is gone; for the ranks of a run only when they did not end by
// themselves. With --no-kill the failure of a node without the script is no such end.
bool EndsTheOthers(const JobSpec& spec, const RunEnded& ended, bool is_first) {
  if (spec.no_kill && IsNodeFailure(ended.cause) && (!is_first || spec.kind == JobKind::kRun)) {
    return false;
  }
  return spec.kind == JobKind::kBatch || ended.cause != EndCause::kExited ||
         ended.status.signal != 0;
}

// A script that asks to be run again after less than this is not taken to have made progress.
constexpr Duration kShortRun = std::chrono::minutes(1);

// True when the script ended with the code that says so: it has kept its work.
bool AsksToRunAgain(const Job& job, const Outcome& outcome) {
  return job.spec->kind == JobKind::kBatch && job.spec->requeue_exit != 0 &&
         outcome.status == ExitStatus{static_cast<std::int32_t>(job.spec->requeue_exit), 0} &&
         job.attempt->ending != EndCause::kCancelled;
}

// True when its time was up, it says --requeue, and its programs kept their work when they were
// told so: the notice of the end is behind all advice.
bool SavedAtItsLimit(const Job& job, const Outcome& outcome) {
  const CheckpointRecord record = CheckpointsOf(*job.attempt);
  return IsTimedOut(outcome.state) && job.spec->kind == JobKind::kBatch &&
         job.spec->requeue == Choice::kYes && record.count > 0 &&
         record.notice > job.attempt->advice.number;
}

// True when its script never began, because a node's prolog failed: it can run elsewhere and cannot
// run twice.
bool NeverBegan(const Job& job) {
  const std::vector<NodeRun>& runs = job.attempt->runs;
  return runs.front().started == kNoTime &&
         std::any_of(runs.begin(), runs.end(),
                     [](const NodeRun& run) { return run.cause == EndCause::kPrologFailed; });
}

// True when an elastic job goes on in another attempt: it was told to end for another size, or
// nodes of it failed, before anything of it ended by itself.
bool GoesOn(const Job& job) {
  const std::vector<NodeRun>& runs = job.attempt->runs;
  const EndCause ending = job.attempt->ending;
  if (!job.spec->elastic || (ending != EndCause::kNone && ending != EndCause::kJobEnding &&
                             ending != EndCause::kResized)) {
    return false;
  }
  if (std::any_of(runs.begin(), runs.end(),
                  [](const NodeRun& run) { return IsNodeFailure(run.cause); })) {
    return !runs.front().status.success() || runs.front().cause != EndCause::kExited;
  }
  return ending != EndCause::kNone && std::all_of(runs.begin(), runs.end(), [](const NodeRun& run) {
           return run.cause == EndCause::kResized || run.cause == EndCause::kJobEnding ||
                  run.cause == EndCause::kNeverStarted;
         });
}

// True when it hung, and says --requeue.
bool HungAndRunsAgain(const Job& job) {
  const std::vector<NodeRun>& runs = job.attempt->runs;
  return job.attempt->ending != EndCause::kCancelled && job.spec->kind == JobKind::kBatch &&
         job.spec->requeue == Choice::kYes &&
         std::any_of(runs.begin(), runs.end(),
                     [](const NodeRun& run) { return run.cause == EndCause::kHung; });
}

// True when an order of it could not be delivered, and somebody may let it try again.
bool WaitsForItsOrder(const Job& job) {
  return job.attempt->ending == EndCause::kLaunchFailed && job.spec->kind == JobKind::kBatch &&
         job.spec->requeue != Choice::kNo;
}

// How often a job waits for something that its start lacks, the first time for so long and then for
// twice as long each time.
constexpr std::uint32_t kLaterStartsMax = 4;
constexpr Duration kFirstWait = std::chrono::seconds(30);

// True when a node lacked something that may be there in a while, such as its container's image.
bool LackedSomething(const Job& job) {
  const std::vector<NodeRun>& runs = job.attempt->runs;
  return job.spec->kind == JobKind::kBatch && std::any_of(runs.begin(), runs.end(), [](auto& run) {
           return run.cause == EndCause::kLaunchFailed &&
                  run.status == ExitStatus{kTryAgainCode, 0};
         });
}

bool StartsLater(const Job& job) {
  return LackedSomething(job) && job.attempt->ending != EndCause::kCancelled &&
         job.spec->requeue != Choice::kNo && job.requeues < kLaterStartsMax;
}

// When it runs again by --every; kNoTime: it does not.
Time NextByCalendar(const Job& job, Time now) {
  return job.attempt->ending == EndCause::kCancelled ? kNoTime : NextMoment(*job.spec, now);
}

// The job's spec, which lets it begin then.
JobSpec BeginningAt(const Job& job, Time begin) {
  JobSpec spec = AsAsked(*job.spec);
  spec.begin = begin;
  return spec;
}

// True when the end of the attempt is not the end of the job: somebody requeued it, its script asks
// for it, its node failed, it hung or it saved its work at its limit and it says --requeue, it
// never began and does not say --no-requeue, no order could start it, what it lacked to start may
// come, or it goes on in another size.
bool RunsAgain(const Job& job, const Outcome& outcome) {
  const EndCause ending = job.attempt->ending;
  if (ending != EndCause::kCancelled && job.spec->kind == JobKind::kBatch &&
      job.spec->requeue != Choice::kNo && NeverBegan(job)) {
    return true;
  }
  return ending == EndCause::kRequeued || ending == EndCause::kPreemptedToRequeue ||
         WaitsForItsOrder(job) || StartsLater(job) || AsksToRunAgain(job, outcome) || GoesOn(job) ||
         HungAndRunsAgain(job) ||
         (ending != EndCause::kCancelled && SavedAtItsLimit(job, outcome)) ||
         (ending != EndCause::kCancelled && outcome.node_failed &&
          job.spec->kind == JobKind::kBatch && job.spec->requeue == Choice::kYes);
}

// True when the job ended only because the rest of its group did.
bool EndedWithOthers(const Job& job) {
  const std::vector<NodeRun>& runs = job.attempt->runs;
  const auto told = [](const NodeRun& run) {
    return run.cause == EndCause::kJobEnding || run.cause == EndCause::kNeverStarted;
  };
  if (!IsComponent(job) || job.attempt->ending != EndCause::kJobEnding) {
    return false;
  }
  if (job.spec->kind == JobKind::kBatch) {
    return told(runs.front()) && std::all_of(runs.begin(), runs.end(), told);
  }
  return std::any_of(runs.begin(), runs.end(), told) &&
         std::all_of(runs.begin(), runs.end(), [&](const NodeRun& run) {
           return told(run) || (run.cause == EndCause::kExited && run.status.success());
         });
}

// Of each job; those that only ended with the others end as the first that did not.
std::vector<Outcome> OutcomesOf(const std::vector<Job*>& group) {
  std::vector<Outcome> outcomes;
  outcomes.reserve(group.size());
  for (const Job* job : group) {
    outcomes.push_back(OutcomeOf(*job->spec, *job->attempt));
  }
  const auto decides = std::find_if(group.begin(), group.end(),
                                    [](const Job* job) { return !EndedWithOthers(*job); });
  if (decides == group.end()) {
    return outcomes;
  }
  const auto position = static_cast<std::size_t>(decides - group.begin());
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (EndedWithOthers(*group[i])) {
      outcomes[i].state = outcomes[position].state;
      outcomes[i].status = outcomes[position].status;
      outcomes[i].text =
          IsSuccess(outcomes[position].state)
              ? ""
              : absl::StrCat(
                    "ended with component ", position, ": ",
                    outcomes[position].text.empty() ? "it failed" : outcomes[position].text);
    }
  }
  return outcomes;
}

// True when the end of its part on that node changes nothing else: others run on, and need not be
// told to end.
bool NothingFollows(const Job& job, NodeId node, const RunEnded& ended) {
  const Attempt& attempt = *job.attempt;
  if (IsComponent(job) || IsSuspended(job.state) || !attempt.queued_steps.empty() ||
      (attempt.ending == EndCause::kNone &&
       EndsTheOthers(*job.spec, ended, node == attempt.allocation.nodes.front().node))) {
    return false;
  }
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    if (attempt.runs[i].phase != RunPhase::kEnded && attempt.allocation.nodes[i].node != node) {
      return true;
    }
  }
  return false;
}

// Once every node has frozen its part of a suspended job, others may have the cores. `job` is as
// its reports leave it.
void GiveCoresBack(const Job& job, Time now, Transition& transition) {
  if (IsSuspended(job.state) && HoldsCores(*job.attempt) && AllFrozen(*job.attempt)) {
    transition.events.emplace_back(AttemptSuspended{job.id, job.attempt->number, now});
    transition.effects.emplace_back(Replan{});
  }
}

// What the jobs of a group are told that runs again.
struct NextRun {
  bool progressed = false;
  std::string text;
  Time begin = kNoTime;  // by its calendar
};

// The first job that runs again takes the others along, unless one is cancelled.
std::optional<NextRun> NextRunOf(const std::vector<Job*>& group,
                                 const std::vector<Outcome>& outcomes, Time now) {
  if (std::any_of(group.begin(), group.end(),
                  [](const Job* job) { return job->attempt->ending == EndCause::kCancelled; })) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Job& job = *group[i];
    if (!RunsAgain(job, outcomes[i])) {
      continue;
    }
    const std::string& told = job.attempt->ending_text;
    const bool asks = AsksToRunAgain(job, outcomes[i]);
    // Whoever asks for it may do so without end: a checkpoint alone is no progress there.
    const bool progressed =
        asks ? now - job.attempt->started >= kShortRun : CheckpointsOf(*job.attempt).count > 0;
    return NextRun{progressed, !told.empty() ? told
                               : asks ? absl::StrCat("its script asks for it with exit code ",
                                                     outcomes[i].status.code)
                                      : outcomes[i].text};
  }
  if (const Time next = NextByCalendar(*group.front(), now); next != kNoTime) {
    const Outcome& outcome = outcomes.front();
    return NextRun{true,
                   absl::StrCat(Name(outcome.state), outcome.text.empty() ? "" : ": ", outcome.text,
                                "; runs again at ", UtcText(next)),
                   next};
  }
  return std::nullopt;
}

// When the group begins again: at the moment of its calendar, when what it lacked may be there, or
// at once (kNoTime).
Time NextBegin(const std::vector<Job*>& group, const NextRun& next, Time now) {
  const auto later =
      std::find_if(group.begin(), group.end(), [](const Job* job) { return StartsLater(*job); });
  return next.begin != kNoTime || later == group.end()
             ? next.begin
             : now + kFirstWait * (1 << (*later)->requeues);
}

void End(const std::vector<Job*>& group, Time now, Transition& transition) {
  std::vector<Outcome> outcomes = OutcomesOf(group);
  const std::optional<NextRun> next = NextRunOf(group, outcomes, now);
  const bool held = std::any_of(group.begin(), group.end(),
                                [](const Job* job) { return WaitsForItsOrder(*job); });
  const Time begin = next.has_value() ? NextBegin(group, *next, now) : kNoTime;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Attempt& attempt = *group[i]->attempt;
    if (next.has_value()) {
      transition.events.emplace_back(JobRequeued{
          group[i]->id, attempt.number, false, next->text, now,
          attempt.ending == EndCause::kPreemptedToRequeue, next->progressed, GoesOn(*group[i])});
      if (begin != kNoTime) {
        transition.events.emplace_back(
            JobUpdated{group[i]->id, BeginningAt(*group[i], begin), {}, now});
      }
      if (held) {
        transition.events.emplace_back(JobHeld{group[i]->id, true, now, HoldBy::kOrderFailed});
      }
    } else {
      if (LackedSomething(*group[i]) && group[i]->requeues > 0) {
        absl::StrAppend(&outcomes[i].text, "; given up after ", group[i]->requeues + 1, " starts");
      }
      transition.events.emplace_back(JobEnded{group[i]->id, outcomes[i].state, outcomes[i].status,
                                              std::move(outcomes[i].text), now});
    }
  }
  transition.effects.emplace_back(Replan{});
}

}  // namespace

const Job& TransitionJobs::Look(JobId id) {
  const Job& before = *state_.FindJob(id);
  return changed_.count(id) != 0 || put_off_.count(id) != 0 ? Copy(before) : before;
}

Job& TransitionJobs::Copy(const Job& job) {
  const auto [changed, is_new] = changed_.try_emplace(job.id, job);
  const auto fact = is_new ? put_off_.find(job.id) : put_off_.end();
  if (fact != put_off_.end()) {
    TakeInReport(*changed->second.attempt, fact->second.node, fact->second.report);
    put_off_.erase(fact);
  }
  return changed->second;
}

std::vector<Job*> TransitionJobs::Edit(const Job& job) {
  std::vector<Job*> group;
  for (const Job* component : GroupOf(state_, job)) {
    group.push_back(&Copy(*component));
  }
  return group;
}

void TransitionJobs::TakeFact(JobId id, NodeId node, const Report& report, Time now,
                              Transition& transition) {
  transition.events.emplace_back(RunReported{node, report});
  const auto* end = std::get_if<RunEnded>(&report.fact);
  if (end == nullptr) {
    const Job& before = Look(id);
    if (IsSuspended(before.state) || !before.attempt->queued_steps.empty()) {
      Job after = before;
      TakeInReport(*after.attempt, node, report);
      GiveCoresBack(after, now, transition);
      StartQueuedSteps(state_, after, now, transition);
    }
    return;
  }
  const bool is_first = changed_.count(id) == 0 && put_off_.count(id) == 0;
  if (is_first && NothingFollows(*state_.FindJob(id), node, *end)) {
    put_off_.emplace(id, Fact{node, report});
    return;
  }
  const bool was_ending = Look(id).attempt->ending != EndCause::kNone;
  const std::vector<Job*> group = Edit(*state_.FindJob(id));
  Job& job = changed_.at(id);
  TakeInReport(*job.attempt, node, report);
  if (std::all_of(group.begin(), group.end(),
                  [](const Job* component) { return AllEnded(*component->attempt); })) {
    End(group, now, transition);
    return;
  }
  if (EndsTheOthers(*job.spec, *end, node == job.attempt->allocation.nodes.front().node)) {
    for (Job* component : group) {
      TellToEnd(*component, now, transition);
    }
  }
  if (was_ending || job.attempt->ending == EndCause::kNone) {
    GiveCoresBack(job, now, transition);
  }
  if (!AllEnded(*job.attempt)) {
    StartQueuedSteps(state_, job, now, transition);
  }
}

void TransitionJobs::TellToEnd(Job& job, Time now, Transition& transition) const {
  if (job.attempt->ending != EndCause::kNone || AllEnded(*job.attempt)) {
    return;
  }
  EndAttempt(job, {EndCause::kJobEnding}, now, transition);
  job.state = JobState::kCompleting;
  job.attempt->ending = EndCause::kJobEnding;
}

}  // namespace muster::core
