// The questions about jobs (client_methods.h): shown, noted and explained.
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "daemon/client/client_methods.h"
#include "daemon/client/job_list.h"
#include "daemon/client/views/checkpoint_views.h"
#include "daemon/client/views/detail_views.h"
#include "daemon/client/views/sight.h"
#include "daemon/controller/views.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/status.h"
#include "scheduler/core/explain/counterfactual.h"
#include "scheduler/core/explain/elastic_text.h"
#include "scheduler/core/explain/explain.h"
#include "scheduler/core/explain/slower_runs.h"
#include "scheduler/core/place/worth/placement_quality.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/plan/node_data.h"
#include "scheduler/model/value/job_text.h"
#include "scheduler/model/value/output_pattern.h"
#include "scheduler/model/value/program_record.h"

namespace muster::daemon {
namespace {

constexpr std::size_t kShownMost = 10'000;  // jobs in one answer of ShowJob
constexpr std::size_t kNoteBytesMax = 65'535;
constexpr std::size_t kManyViews = 10'000;  // of which a list's memory is worth giving back

std::vector<const Job*> Selected(const core::ClusterState& state, const JobSelector& selector) {
  if (selector.elements.empty()) {
    return state.FindJobs(selector.job, std::nullopt);
  }
  std::vector<const Job*> found;
  for (const std::uint32_t element : selector.elements) {
    for (const Job* job : state.FindJobs(selector.job, element)) {
      found.push_back(job);
    }
  }
  return found;
}

// Whether the selector names more than kShownMost jobs; those are not looked for one by one.
bool IsTooMany(const core::ClusterState& state, const JobSelector& selector) {
  std::size_t count = selector.elements.size();
  if (count == 0) {
    state.jobs().ForEachRun([&](const Job& job, std::uint32_t run) {
      count += job.submission == selector.job ? run : 0;
    });
  }
  return count > kShownMost;
}

// The first of them; null when there is none.
const Job* FirstSelected(const core::ClusterState& state, const JobSelector& selector) {
  const JobId id = selector.job;
  if (!selector.elements.empty()) {
    const std::vector<const Job*> found = Selected(state, selector);
    return found.empty() ? nullptr : found.front();
  }
  const std::optional<JobId> first = state.jobs().NextFrom(id);
  const Job* job = first.has_value() ? state.FindJob(*first) : nullptr;
  return job != nullptr && (job->id == id || job->submission == id) ? job : nullptr;
}

JobDetail LiveDetail(const StateView& state_view, const Job& job, const Network* network) {
  JobDetail detail;
  detail.job = ViewIn(state_view, job);
  AddAsked(*job.spec, detail);
  if (job.attempt.has_value()) {
    detail.attempts.push_back(daemon::ViewOf(state_view.state(), job, kNoTime));
    std::vector<NodeSnapshot> nodes;
    for (const NodeAllocation& part : job.attempt->allocation.nodes) {
      if (const Node* node = state_view.state().FindNode(part.node)) {
        nodes.push_back(NodeSnapshot{node->id, node->name, node->machine, true, false, {}});
      }
    }
    detail.placement = core::WorthOf(job.attempt->allocation, nodes, network);
    detail.checkpoint_interval = IntervalText(*job.attempt);
  }
  if (job.spec->elastic) {
    detail.elastic =
        core::ElasticText(job, core::FindResize(state_view.plan().get(), job), state_view.now());
  }
  return detail;
}

// The path that a pattern of the job's files means, as its supervisor will name it. Elements that
// wait together have one each, so theirs stays a pattern.
std::string NamedFile(const JobView& job, const std::string& pattern) {
  std::uint32_t index = 0;
  const bool element = !job.array_task_id.empty();
  if (element && !absl::SimpleAtoi(job.array_task_id, &index)) {
    return pattern;
  }
  PatternValues values;
  values.job = job.id;
  values.submission = job.array_job_id;
  values.array_index = element ? std::optional(index) : std::nullopt;
  values.job_name = job.name;
  values.node = job.nodes.empty() ? "%N" : job.nodes.front();
  values.user = job.user;
  return ExpandPattern(pattern, values);
}

// What only the program knows: where it runs, its files, its command.
void AddProgram(JobStore& store, bool with_script, JobDetail& detail) {
  const JobId job = detail.job.het_size > 0 ? detail.job.id : detail.job.array_job_id;
  const absl::StatusOr<Program> program = store.ReadProgram(job);
  if (!program.ok()) {
    return;
  }
  const auto unless_changed = [](std::string& shown, const std::string& submitted) {
    shown = shown.empty() ? submitted : shown;
  };
  unless_changed(detail.work_dir, program->work_dir);
  unless_changed(detail.stdout_path, program->stdout_path);
  unless_changed(detail.stderr_path, program->stderr_path);
  detail.command = program->argv;
  const std::string host = "MUSTER_SUBMIT_HOST=";
  for (const std::string& variable : program->environment) {
    if (absl::StartsWith(variable, host)) {
      detail.submit_host = variable.substr(host.size());
    }
  }
  detail.batch = detail.batch || !program->script.empty();
  if (detail.batch && detail.stdout_path.empty() && detail.job.het_size == 0) {
    detail.stdout_path =
        absl::StrCat("muster-", detail.job.label, ".out");  // as supervisors name it
  }
  detail.stdout_path = NamedFile(detail.job, detail.stdout_path);
  detail.stderr_path = NamedFile(detail.job, detail.stderr_path);
  if (with_script) {
    detail.script = program->script;
  }
  const bool lives = !detail.attempts.empty() && detail.attempts.back().end_time == kNoTime;
  detail.checkpoint_interval =
      lives ? IntervalText(program->environment, detail.checkpoint_interval) : "";
}

// Whether the node was found to have the job's copies of data, or is thought to.
std::string DataOn(const core::ClusterState& state, const Job& job, NodeId node) {
  const std::size_t wanted = job.spec->node_data.size();
  if (wanted == 0) {
    return "";
  }
  const NodeRun& run = job.attempt->runs[*core::RunOn(*job.attempt, node)];
  std::size_t kept = run.data.found;
  if (run.phase == RunPhase::kOrdered) {
    const Node* const known = state.FindNode(node);
    kept = static_cast<std::size_t>(std::count_if(
        job.spec->node_data.begin(), job.spec->node_data.end(), [&](const std::string& source) {
          return known != nullptr && Contains(known->kept, MarkOfData(job.spec->user.uid, source));
        }));
  }
  return kept == wanted ? ", kept its data"
         : kept == 0    ? ", its data are copied there"
                        : absl::StrCat(", kept ", kept, " of its ", wanted, " sources of data");
}

// Why the job is where it is. REQUIRES: it has an attempt.
Explanation ExplainPlacement(const StateView& state_view, const Job& job) {
  Explanation explanation;
  const Allocation& allocation = job.attempt->allocation;
  if (IsSuspended(job.state)) {
    explanation.summary = absl::StrCat("is suspended: ", ViewIn(state_view, job).reason.text, "; ");
  }
  absl::StrAppend(&explanation.summary, "placed on the fewest nodes that had room for its ",
                  job.spec->request.tasks,
                  job.spec->request.tasks == 1 ? " task: " : " tasks: ", allocation.nodes.size(),
                  " of ", state_view.state().nodes().size(),
                  "; among those with room, the tightest",
                  MarksOf(*job.spec).empty() ? ""
                                             : ", and of equal ones those that keep most of its "
                                               "image and data");
  if (job.spec->elastic) {
    absl::StrAppend(
        &explanation.summary, "; elastic, ",
        core::ElasticText(job, core::FindResize(state_view.plan().get(), job), state_view.now()));
  }
  for (const NodeAllocation& part : allocation.nodes) {
    explanation.nodes.push_back(NodeAnswer{
        part.name, true,
        absl::StrCat(part.ranks.size(), part.ranks.size() == 1 ? " task" : " tasks", " on cpus ",
                     part.cpus.ToList(), ", memory nodes ", part.mem_nodes.ToList(), ", ",
                     part.gpus.size(), " GPUs", DataOn(state_view.state(), job, part.node))});
  }
  return explanation;
}

void AddExplanation(Explanation explanation, JobExplanation& answer) {
  answer.summary = std::move(explanation.summary);
  answer.nodes = std::move(explanation.nodes);
  answer.priority = std::move(explanation.priority);
}

std::string Label(const JobSelector& selector) {
  return selector.elements.empty() ? absl::StrCat(selector.job.value())
                                   : absl::StrCat(selector.job.value(), "_", selector.elements[0]);
}

absl::Status NoSuchJob(const JobSelector& selector) {
  return absl::NotFoundError(
      absl::StrCat("job ", Label(selector), ": no such job; see muster queue and muster history"));
}

// To those who may see what is the owner's business.
void AddWarnings(const Backend& backend, const Caller& caller, const StateView& state_view,
                 std::vector<ListedJobs>& jobs) {
  for (ListedJobs& each : jobs) {
    const Job* const job = each.view.start_time == kNoTime || !MaySee(caller, each.view.user)
                               ? nullptr
                               : state_view.state().FindJob(each.view.id);
    if (job != nullptr) {
      each.view.warnings = WarningsOf(backend.usage, *job, state_view.now());
    }
  }
}

void AnswerListJobs(const Backend& backend, const Call<ListJobs>& call, const ListJobs& asked) {
  backend.controller.Look([backend, call, asked](const StateView& state_view) -> Controller::Reply {
    if (!asked.jobs.empty() && asked.after != JobId()) {
      return [call](const absl::Status&) mutable {
        call.Send(absl::InvalidArgumentError("after: a list of named jobs has no pieces"), "");
      };
    }
    const WantedJobs wanted(asked, Sight(call.caller, state_view.state()));
    auto listed = std::make_shared<std::vector<ListedJobs>>(ListOf(state_view, wanted));
    AddWarnings(backend, call.caller, state_view, *listed);
    std::shared_ptr<const std::vector<ListedJobs>> jobs = std::move(listed);
    return [backend, call, jobs](const absl::Status& status) mutable {
      call.Aside(backend.reader, [backend, call, jobs = std::move(jobs), status]() mutable {
        const bool many = CountOf(*jobs) > kManyViews;
        std::string bytes;
        AppendJobs(*jobs, &bytes);
        jobs.reset();
        call.Send(status, bytes);
        if (many) {
          // Whatever the allocator keeps of it would be kept for good.
          static_cast<void>(backend.reader.Run([] { malloc_trim(0); }));
        }
      });
    };
  });
}

absl::Status TakeNotes(JobStore& store, std::vector<JobDetail>& details) {
  if (details.empty()) {
    return absl::OkStatus();
  }
  const auto [first, last] = std::minmax_element(
      details.begin(), details.end(),
      [](const JobDetail& a, const JobDetail& b) { return a.job.id < b.job.id; });
  ASSIGN_OR_RETURN(const NotesByJob notes, store.ReadNotes(first->job.id, last->job.id));
  for (JobDetail& detail : details) {
    const auto found = notes.find(detail.job.id);
    detail.notes = found == notes.end() ? detail.notes : found->second;
    for (const JobNote& note : detail.notes) {
      detail.job.comment = note.name == kCommentNote ? note.text : detail.job.comment;
    }
  }
  return absl::OkStatus();
}

// Its attempts that have ended, before the one that runs.
void AddEarlierAttempts(Accounting& accounting, JobDetail& live) {
  const auto ended = accounting.Attempts(live.job.id);
  if (ended.ok()) {
    live.attempts.insert(live.attempts.begin(), ended->begin(), ended->end());
  }
}

void KeepNewestAttempts(JobDetail& live) {
  constexpr std::ptrdiff_t kMost = 21;  // with the one that runs
  live.attempts.erase(live.attempts.begin(),
                      live.attempts.end() - std::min(kMost, std::ssize(live.attempts)));
}

// Says of a run that has ended that it and those before it were slower than earlier runs of the
// same program at the same size. Elements and components are parts of something: they are not
// judged.
void AddSlowerRuns(Accounting& accounting, JobDetail& detail) {
  const JobView& job = detail.job;
  if (job.state != Name(JobState::kCompleted) || job.restarts > 0 || !job.array_task_id.empty() ||
      job.het_size > 0 || ProgramLineOf(detail.record).empty()) {
    return;
  }
  const absl::StatusOr<std::vector<JobDetail>> runs = accounting.RunsLike(detail);
  if (!runs.ok()) {
    return;
  }
  std::vector<core::FinishedRun> finished;
  for (const JobDetail& run : *runs) {
    finished.push_back({run.job.id, run.job.end_time - run.job.start_time - run.job.suspended,
                        run.record, run.job.nodes});
  }
  if (const std::optional<core::SlowerRuns> slower = core::FindSlowerRuns(finished)) {
    detail.job.warnings.push_back({"Slower", core::ToSentence(*slower), job.end_time});
  }
}

// What the accounting and the programs add to a job of the state, or of the accounting.
void Complete(const Backend& backend, const Call<ShowJob>& call, const ShowJob& asked, Time now,
              bool lives, JobDetail& detail) {
  if (lives && detail.job.restarts > 0) {
    AddEarlierAttempts(backend.accounting, detail);
  }
  AddCost(*backend.PricesNow(), now, detail);
  if (lives) {
    KeepNewestAttempts(detail);
  }
  if (absl::StatusOr<std::vector<StepView>> steps = backend.accounting.Steps(detail.job.id);
      steps.ok()) {
    detail.steps = *std::move(steps);
  }
  AddDigest(detail);
  TakePage(asked, detail);
  if (MaySee(call.caller, detail.job.user)) {
    if (!lives) {
      AddSlowerRuns(backend.accounting, detail);
    }
    AddProgram(backend.store, asked.with_script, detail);
    return;
  }
  Conceal(detail);
}

// Without what a caller is not shown of jobs that have ended.
void KeepShown(const Sight& sight, std::vector<JobDetail>& ended) {
  std::erase_if(ended, [&sight](const JobDetail& detail) {
    return !sight.Shows(Private::kHistory, detail.job.user, detail.job.account);
  });
}

// Whether the caller is shown that the job is there.
bool IsShown(const Sight& sight, const Job& job) {
  return sight.Shows(Private::kJobs, job.spec->user.name, job.spec->account);
}

// Live and ended jobs; one that ended between the two readings is among the ended ones.
void FinishShowJob(const Backend& backend, const Call<ShowJob>& call, const ShowJob& asked,
                   const Sight& sight, Time now, std::vector<JobDetail>& live) {
  const JobSelector& selector = asked.job;
  absl::StatusOr<std::vector<JobDetail>> ended =
      backend.accounting.Show(selector.job, selector.elements);
  if (!ended.ok()) {
    call.Refuse(ended.status());
    return;
  }
  KeepShown(sight, *ended);
  std::set<JobId> seen;
  std::vector<JobDetail> shown;
  for (std::vector<JobDetail>* source : {&*ended, &live}) {
    for (JobDetail& detail : *source) {
      if (!seen.insert(detail.job.id).second) {
        continue;
      }
      Complete(backend, call, asked, now, source == &live, detail);
      shown.push_back(std::move(detail));
    }
  }
  const absl::Status noted = TakeNotes(backend.store, shown);
  for (JobDetail& detail : shown) {
    if (!MaySee(call.caller, detail.job.user)) {
      detail.notes.clear();
    }
  }
  call.Finish(shown.empty() ? NoSuchJob(selector) : noted, shown);
}

void AnswerShowJob(const Backend& backend, const Call<ShowJob>& call, const ShowJob& asked) {
  backend.controller.Look([backend, call, asked](const StateView& state_view) -> Controller::Reply {
    const JobSelector& selector = asked.job;
    auto details = std::make_shared<std::vector<JobDetail>>();
    if (IsTooMany(state_view.state(), selector)) {
      return [call, selector](const absl::Status&) {
        call.Refuse(absl::InvalidArgumentError(
            absl::StrCat("job ", Label(selector), ": has more than ", kShownMost,
                         " elements; name some of them, as in ", selector.job.value(), "_[0-99]")));
      };
    }
    const Sight sight(call.caller, state_view.state());
    for (const Job* job : Selected(state_view.state(), selector)) {
      if (!IsShown(sight, *job)) {
        continue;
      }
      details->push_back(LiveDetail(state_view, *job, backend.controller.policy()->network.get()));
      details->back().live_usage = backend.usage.Of(*job, state_view.state());
      if (MaySee(call.caller, job->spec->user.name)) {
        details->back().job.warnings = WarningsOf(backend.usage, *job, state_view.now());
        details->back().stragglers = backend.usage.StragglersOf(*job);
      }
    }
    return [backend, call, asked, sight, details, now = state_view.now()](const absl::Status&) {
      call.Aside(backend.reader, [backend, call, asked, sight, details, now] {
        FinishShowJob(backend, call, asked, sight, now, *details);
      });
    };
  });
}

absl::Status CheckNotes(const Caller& caller, const std::vector<JobNote>& notes) {
  for (const JobNote& note : notes) {
    const auto* const known =
        std::find_if(std::begin(kJobNotes), std::end(kJobNotes),
                     [&note](const JobNoteKind& kind) { return kind.name == note.name; });
    if (known == std::end(kJobNotes)) {
      return absl::InvalidArgumentError(
          "a note is a Comment, an AdminComment, an Extra or the like");
    }
    if (known->operators_only && !IsOperator(caller)) {
      return absl::PermissionDeniedError(absl::StrCat(note.name, ": is for operators"));
    }
    if (note.text.size() > kNoteBytesMax) {
      return absl::InvalidArgumentError(
          absl::StrCat(note.name, ": ", note.text.size(), " bytes; at most ", kNoteBytesMax));
    }
    if (HasControl(note.text)) {
      return absl::InvalidArgumentError(
          absl::StrCat(note.name, ": holds a control character: leave it out"));
    }
  }
  return notes.empty() ? absl::InvalidArgumentError("nothing to note: name a text")
                       : absl::OkStatus();
}

// `owners`: of the live jobs that are meant; those that have ended come to them.
void KeepNotes(const Backend& backend, const Call<NoteJob>& call, const NoteJob& asked,
               std::map<JobId, std::string> owners) {
  const absl::StatusOr<std::vector<JobDetail>> ended =
      backend.accounting.Show(asked.job.job, asked.job.elements);
  if (!ended.ok()) {
    call.Refuse(ended.status());
    return;
  }
  for (const JobDetail& detail : *ended) {
    owners.emplace(detail.job.id, detail.job.user);
  }
  if (owners.empty()) {
    call.Refuse(NoSuchJob(asked.job));
    return;
  }
  for (const auto& [job, owner] : owners) {
    if (!MaySee(call.caller, owner)) {
      call.Refuse(NotTheirs(call.caller, absl::StrCat(job.value()), owner));
      return;
    }
  }
  backend.controller.Keep(
      [owners = std::move(owners), notes = asked.notes, user = call.caller.user.name](Batch& batch,
                                                                                      Time now) {
        for (const auto& [job, owner] : owners) {
          for (const JobNote& note : notes) {
            batch.notes.emplace_back(job, JobNote{note.name, note.text, user, now});
          }
        }
      },
      [call](const absl::Status& kept) { call.Finish(kept); });
}

void AnswerNoteJob(const Backend& backend, const Call<NoteJob>& call, const NoteJob& asked) {
  if (const absl::Status good = CheckNotes(call.caller, asked.notes); !good.ok()) {
    call.Refuse(good);
    return;
  }
  backend.controller.Look([backend, call, asked](const StateView& state_view) -> Controller::Reply {
    std::map<JobId, std::string> owners;
    if (!IsTooMany(state_view.state(), asked.job)) {
      for (const Job* job : Selected(state_view.state(), asked.job)) {
        owners.emplace(job->id, job->spec->user.name);
      }
    }
    return [backend, call, asked, owners](const absl::Status&) {
      call.Aside(backend.reader,
                 [backend, call, asked, owners] { KeepNotes(backend, call, asked, owners); });
    };
  });
}

// How a job ended, out of the accounting.
void ExplainEnded(const Backend& backend, const Call<ExplainJob>& call, const Sight& sight,
                  const JobSelector& selector) {
  absl::StatusOr<std::vector<JobDetail>> ended =
      backend.accounting.Show(selector.job, selector.elements);
  if (ended.ok()) {
    KeepShown(sight, *ended);
  }
  if (!ended.ok() || ended->empty()) {
    call.Refuse(ended.ok() ? NoSuchJob(selector) : ended.status());
    return;
  }
  JobExplanation answer;
  answer.job = ended->front().job;
  call.Finish(absl::OkStatus(), answer);
}

// Why a job that has resources has those.
Controller::Reply ExplainPlaced(const Backend& backend, const Call<ExplainJob>& call,
                                const StateView& state_view, const Job& job) {
  const auto answer = std::make_shared<JobExplanation>();
  answer->job = ViewIn(state_view, job);
  answer->estimate = job.estimate;
  answer->allocation = job.attempt->allocation;
  AddExplanation(ExplainPlacement(state_view, job), *answer);
  const auto snapshot = core::BuildSnapshot(state_view.state(), state_view.now(), nullptr,
                                            backend.controller.policy()->network);
  return
      [backend, call, answer, snapshot, id = job.id, spec = job.spec](const absl::Status& status) {
        call.Aside(backend.reader, [call, answer, snapshot, id, spec, status] {
          const Network* const network = snapshot->network.get();
          answer->placement = core::WorthOf(answer->allocation, snapshot->nodes, network);
          core::Compare(id, answer->allocation, spec->request, snapshot->nodes, network,
                        answer->placement);
          call.Finish(status, *answer);
        });
      };
}

// Why a job waits, and what would let it start sooner.
Controller::Reply ExplainWait(const Backend& backend, const Call<ExplainJob>& call,
                              const StateView& state_view, const Job& job) {
  const auto answer = std::make_shared<JobExplanation>();
  answer->job = ViewIn(state_view, job);
  answer->estimate = job.estimate;
  answer->promised = job.promised;
  const Reason reason = state_view.ReasonOf(job.id);
  const std::shared_ptr<const Plan> plan =
      state_view.plan() != nullptr ? state_view.plan() : std::make_shared<const Plan>();
  const auto snapshot = core::BuildSnapshot(state_view.state(), state_view.now(), plan.get(),
                                            backend.controller.policy()->network);
  const bool hides_nodes = Hides(call.caller, Private::kNodes);
  return [backend, call, answer, snapshot, plan, reason, hides_nodes,
          id = job.id](const absl::Status& status) {
    call.Aside(
        backend.reader, [backend, call, answer, snapshot, plan, reason, hides_nodes, id, status] {
          const std::shared_ptr<const SchedulerConfig> policy = backend.controller.policy();
          AddExplanation(core::ExplainWaiting(*snapshot, id, *plan, *policy), *answer);
          if (reason.kind == ReasonKind::kJobHeldUser) {
            answer->summary = ToSentence(reason);  // no cycle has looked at it, and none needs to
          }
          answer->suggestions = core::SuggestChanges(*snapshot, id, *policy);
          if (hides_nodes) {
            answer->nodes.clear();
          }
          call.Finish(status, *answer);
        });
  };
}

void AnswerExplain(const Backend& backend, const Call<ExplainJob>& call, const ExplainJob& asked) {
  backend.controller.Look(
      [backend, call, selector = asked.job](const StateView& state_view) -> Controller::Reply {
        const Sight sight(call.caller, state_view.state());
        const Job* const job = FirstSelected(state_view.state(), selector);
        if (job == nullptr || !IsShown(sight, *job)) {
          return [backend, call, sight, selector](const absl::Status&) {
            call.Aside(backend.reader, [backend, call, sight, selector] {
              ExplainEnded(backend, call, sight, selector);
            });
          };
        }
        return job->attempt.has_value() ? ExplainPlaced(backend, call, state_view, *job)
                                        : ExplainWait(backend, call, state_view, *job);
      });
}

}  // namespace

void ServeJobQuestions(Methods& methods, const Backend& backend) {
  AnswerInTurn<ListJobs>(methods, backend, AnswerListJobs);
  AnswerInTurn<ShowJob>(methods, backend, AnswerShowJob);
  AnswerInTurn<NoteJob>(methods, backend, AnswerNoteJob);
  AnswerInTurn<ExplainJob>(methods, backend, AnswerExplain);
}

}  // namespace muster::daemon
