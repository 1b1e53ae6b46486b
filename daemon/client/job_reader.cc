#include "daemon/client/job_reader.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/access/rpc.h"
#include "daemon/client/checkpoint_views.h"
#include "daemon/client/submission.h"
#include "daemon/controller/views.h"
#include "proto/convert/convert.h"
#include "scheduler/core/explain/counterfactual.h"
#include "scheduler/core/explain/elastic_text.h"
#include "scheduler/core/explain/explain.h"
#include "scheduler/core/handle/handle.h"
#include "scheduler/core/place/worth/placement_quality.h"
#include "scheduler/core/plan/queue/queue_order.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/model/job/array.h"

namespace muster::daemon {
namespace {

constexpr std::size_t kShownMost = 10'000;  // jobs in one answer of ShowJob

// Which live jobs a listing wants.
struct JobFilter {
  std::set<std::string> states;
  std::string user;
  std::set<JobId> jobs;
  bool fold = false;
  std::size_t limit = SIZE_MAX;

  explicit JobFilter(const wire::ListJobsRequest& request)
      : states(request.states().begin(), request.states().end()),
        user(request.user()),
        fold(request.fold()),
        limit(request.limit() == 0 ? SIZE_MAX : request.limit()) {
    for (const std::uint64_t id : request.jobs()) {
      jobs.insert(JobId(id));
    }
  }
  [[nodiscard]] bool Wants(const Job& job) const {
    return (states.empty() || states.contains(Name(job.state))) &&
           (user.empty() || user == job.spec->user.name) &&
           (jobs.empty() || jobs.contains(job.id) || jobs.contains(job.submission));
  }
};

std::vector<const Job*> Selected(const core::ClusterState& state,
                                 const wire::JobSelector& selector) {
  if (selector.elements().empty()) {
    return state.FindJobs(JobId(selector.job()), std::nullopt);
  }
  std::vector<const Job*> found;
  for (const std::uint32_t element : selector.elements()) {
    for (const Job* job : state.FindJobs(JobId(selector.job()), element)) {
      found.push_back(job);
    }
  }
  return found;
}

// Whether the selector names more than kShownMost jobs; those are not looked for one by one.
bool IsTooMany(const core::ClusterState& state, const wire::JobSelector& selector) {
  auto count = static_cast<std::size_t>(selector.elements_size());
  if (count == 0) {
    state.jobs().ForEachRun([&](const Job& job, std::uint32_t run) {
      count += job.submission.value() == selector.job() ? run : 0;
    });
  }
  return count > kShownMost;
}

// The first of them; null when there is none.
const Job* FirstSelected(const core::ClusterState& state, const wire::JobSelector& selector) {
  const JobId id(selector.job());
  if (!selector.elements().empty()) {
    const std::vector<const Job*> found = Selected(state, selector);
    return found.empty() ? nullptr : found.front();
  }
  const std::optional<JobId> first = state.jobs().NextFrom(id);
  const Job* job = first.has_value() ? state.FindJob(*first) : nullptr;
  return job != nullptr && (job->id == id || job->submission == id) ? job : nullptr;
}

JobView ViewIn(const StateView& state_view, const Job& job) {
  const Reason reason = state_view.ReasonOf(job.id);
  JobView view = daemon::ViewOf(job, &reason);
  view.priority = state_view.PriorityOf(job.id);
  view.alert = state_view.AlertOf(job.id);
  return view;
}

// Adds `count` untouched elements from `job` on, those that wait for the same in one view.
void AddFolded(const StateView& state_view, Job job, std::uint32_t count,
               std::vector<JobView>& views) {
  while (count > 0) {
    const std::uint32_t alike = state_view.AlikeFrom(job.id, count);
    const auto ordinal = static_cast<std::uint32_t>(job.id.value() - job.submission.value());
    job.array_index = ElementIndexAt(*job.spec->array, ordinal);
    views.push_back(ViewIn(state_view, job));
    views.back().indices = IndicesFrom(*job.spec->array, ordinal, alike);
    job.id = JobId(job.id.value() + alike);
    count -= alike;
  }
}

std::vector<JobView> ViewsOf(const StateView& state_view, const JobFilter& filter) {
  std::vector<JobView> views;
  const core::JobTable& jobs = state_view.state().jobs();
  jobs.ForEachRun([&](const Job& job, std::uint32_t count) {
    if (views.size() >= filter.limit) {
      return;
    }
    if (filter.fold && filter.jobs.empty() && jobs.IsUntouched(job.id)) {
      if (filter.Wants(job)) {
        AddFolded(state_view, job, count, views);
      }
      return;
    }
    for (std::uint32_t i = 0; i < count && views.size() < filter.limit; ++i) {
      const Job& each = i == 0 ? job : *state_view.state().FindJob(JobId(job.id.value() + i));
      if (filter.Wants(each)) {
        views.push_back(ViewIn(state_view, each));
      }
    }
  });
  return views;
}

JobDetail LiveDetail(const StateView& state_view, const Job& job, const Network* network) {
  JobDetail detail;
  detail.job = ViewIn(state_view, job);
  detail.request = job.spec->request;
  detail.constraint = ToText(job.spec->request.constraint);
  detail.recorded = job.spec->recorded;
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

// What only the program knows: where it runs, its files, its command.
void AddProgram(JobStore& store, JobDetail& detail) {
  const JobId job = detail.job.het_size > 0 ? detail.job.id : detail.job.array_job_id;
  const absl::StatusOr<Program> program = store.ReadProgram(job);
  if (!program.ok()) {
    return;
  }
  detail.work_dir = program->work_dir;
  detail.stdout_path = program->stdout_path;
  detail.stderr_path = program->stderr_path;
  detail.command = program->argv;
  const bool lives = !detail.attempts.empty() && detail.attempts.back().end_time == kNoTime;
  detail.checkpoint_interval =
      lives ? IntervalText(program->environment, detail.checkpoint_interval) : "";
}

// A waiting job: what each node lacks. A placed one: what it got where.
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
                  "; among those with room, the tightest");
  if (job.spec->elastic) {
    absl::StrAppend(
        &explanation.summary, "; elastic, ",
        core::ElasticText(job, core::FindResize(state_view.plan().get(), job), state_view.now()));
  }
  for (const NodeAllocation& part : allocation.nodes) {
    explanation.nodes.push_back(
        NodeAnswer{part.name, true,
                   absl::StrCat(part.ranks.size(), part.ranks.size() == 1 ? " task" : " tasks",
                                " on cpus ", part.cpus.ToList(), ", memory nodes ",
                                part.mem_nodes.ToList(), ", ", part.gpus.size(), " GPUs")});
  }
  return explanation;
}

void AddExplanation(const Explanation& explanation, wire::ExplainReply& reply) {
  reply.set_summary(explanation.summary);
  for (const NodeAnswer& answer : explanation.nodes) {
    wire::NodeAnswer* node = reply.add_nodes();
    node->set_node(answer.node);
    node->set_fits(answer.fits);
    node->set_text(answer.text);
  }
  if (!explanation.priority.terms.empty()) {
    ToWire(explanation.priority, reply.mutable_priority());
  }
}

void AddSuggestions(const std::vector<Suggestion>& suggestions, wire::ExplainReply& reply) {
  for (const Suggestion& suggestion : suggestions) {
    wire::Suggestion* wire = reply.add_suggestions();
    wire->set_change(suggestion.change);
    wire->set_start(suggestion.start.time_since_epoch().count());
  }
}

void InsertJob(Snapshot& snapshot, const JobSubmitted& submitted, JobId id, const JobSpec& spec) {
  WaitingJob job;
  job.id = id;
  job.submission = submitted.first;
  job.spec = std::make_shared<const JobSpec>(spec);
  job.submitted = submitted.time;
  job.held = submitted.spec.held;
  job.het_size = submitted.components.empty()
                     ? 0
                     : static_cast<std::uint32_t>(submitted.components.size()) + 1;
  if (spec.array.has_value()) {
    job.array_index = ElementIndexAt(*spec.array, 0);
  }
  snapshot.waiting.insert(
      std::upper_bound(snapshot.waiting.begin(), snapshot.waiting.end(), job, core::GoesBefore),
      std::move(job));
}

// The snapshot with the submission's first job, or all of its components, in its queue.
Snapshot WithJob(Snapshot snapshot, const JobSubmitted& submitted) {
  JobId id = submitted.first;
  InsertJob(snapshot, submitted, id, submitted.spec);
  for (const Component& component : submitted.components) {
    id = id.Next();
    InsertJob(snapshot, submitted, id, component.spec);
  }
  return snapshot;
}

void AddForecast(const Snapshot& snapshot, const core::Forecast& forecast,
                 wire::TestSubmitReply& reply) {
  reply.set_start(forecast.start.time_since_epoch().count());
  for (const NodeSnapshot& node : snapshot.nodes) {
    if (std::find(forecast.nodes.begin(), forecast.nodes.end(), node.id) != forecast.nodes.end()) {
      reply.add_nodes(node.name);
    }
  }
  if (forecast.reason.kind != ReasonKind::kNone) {
    reply.set_reason(
        absl::StrCat(muster::Name(forecast.reason.kind), ": ", ToSentence(forecast.reason)));
    reply.set_never(forecast.reason.verdict == ReasonClass::kNever);
  }
}

std::string Label(const wire::JobSelector& selector) {
  return selector.elements().empty() ? absl::StrCat(selector.job())
                                     : absl::StrCat(selector.job(), "_", selector.elements(0));
}

absl::Status NoSuchJob(const wire::JobSelector& selector) {
  return absl::NotFoundError(
      absl::StrCat("job ", Label(selector), ": no such job; see muster queue and muster history"));
}

}  // namespace

void JobReader::ListJobs(const Call& call, const wire::ListJobsRequest& request,
                         wire::ListJobsReply* reply) {
  auto* const reactor = call.reactor;
  controller_.Look([this, reactor, reply,
                    filter = JobFilter(request)](const StateView& state_view) -> Controller::Reply {
    const auto views = std::make_shared<const std::vector<JobView>>(ViewsOf(state_view, filter));
    return [this, reactor, reply, views](const absl::Status& status) {
      ReadAside(reader_, reactor, [reactor, reply, views, status] {
        for (const JobView& view : *views) {
          ToWire(view, reply->add_jobs());
        }
        reactor->Finish(ToGrpc(status));
      });
    };
  });
}

void JobReader::ListHistory(const Call& call, const wire::ListHistoryRequest& request,
                            wire::ListJobsReply* reply) {
  auto* const reactor = call.reactor;
  HistoryFilter filter;
  filter.user = request.user();
  filter.states.assign(request.states().begin(), request.states().end());
  filter.since = Time(Duration(request.since()));
  filter.limit = request.limit() == 0 ? filter.limit : request.limit();
  for (const std::uint64_t id : request.jobs()) {
    filter.jobs.push_back(JobId(id));
  }
  ReadAside(reader_, reactor, [this, reactor, reply, filter] {
    const absl::StatusOr<std::vector<JobView>> views = accounting_.List(filter);
    if (views.ok()) {
      for (const JobView& view : *views) {
        ToWire(view, reply->add_jobs());
      }
    }
    reactor->Finish(ToGrpc(views.status()));
  });
}

void JobReader::ShowJob(const Call& call, const wire::ShowJobRequest& request,
                        wire::ShowJobReply* reply) {
  auto* const reactor = call.reactor;
  controller_.Look([this, reactor, reply, caller = call.caller,
                    selector = request.job()](const StateView& state_view) -> Controller::Reply {
    auto details = std::make_shared<std::vector<JobDetail>>();
    if (IsTooMany(state_view.state(), selector)) {
      return [reactor, selector](const absl::Status&) {
        reactor->Finish(ToGrpc(absl::InvalidArgumentError(
            absl::StrCat("job ", Label(selector), ": has more than ", kShownMost,
                         " elements; name some of them, as in ", selector.job(), "_[0-99]"))));
      };
    }
    for (const Job* job : Selected(state_view.state(), selector)) {
      details->push_back(LiveDetail(state_view, *job, controller_.policy()->network.get()));
      details->back().live_usage = usage_.Of(*job, state_view.state());
    }
    return [this, reactor, reply, caller, selector, details](const absl::Status&) {
      ReadAside(reader_, reactor, [this, reactor, reply, caller, selector, details] {
        // Ended ones are the accounting's; one that ended between the two readings is there.
        absl::StatusOr<std::vector<JobDetail>> ended = accounting_.Show(
            JobId(selector.job()), {selector.elements().begin(), selector.elements().end()});
        if (!ended.ok()) {
          reactor->Finish(ToGrpc(ended.status()));
          return;
        }
        std::set<JobId> seen;
        for (std::vector<JobDetail>* source : {&*ended, details.get()}) {
          for (JobDetail& detail : *source) {
            if (seen.insert(detail.job.id).second) {
              if (absl::StatusOr<std::vector<StepView>> steps = accounting_.Steps(detail.job.id);
                  steps.ok()) {
                detail.steps = *std::move(steps);
              }
              if (MaySee(caller, detail.job.user)) {
                AddProgram(store_, detail);
              } else {
                detail.checkpoint_interval.clear();
              }
              ToWire(detail, reply->add_jobs());
            }
          }
        }
        reactor->Finish(seen.empty() ? ToGrpc(NoSuchJob(selector)) : grpc::Status::OK);
      });
    };
  });
}

// How a job ended, out of the accounting.
grpc::Status JobReader::ExplainEnded(const wire::JobSelector& selector, wire::ExplainReply& reply) {
  const absl::StatusOr<std::vector<JobDetail>> ended = accounting_.Show(
      JobId(selector.job()), {selector.elements().begin(), selector.elements().end()});
  if (!ended.ok() || ended->empty()) {
    return ToGrpc(ended.ok() ? NoSuchJob(selector) : ended.status());
  }
  ToWire(ended->front().job, reply.mutable_job());
  return grpc::Status::OK;
}

void JobReader::Explain(const Call& call, const wire::ExplainRequest& request,
                        wire::ExplainReply* reply) {
  auto* const reactor = call.reactor;
  controller_.Look([this, reactor, reply,
                    selector = request.job()](const StateView& state_view) -> Controller::Reply {
    const Job* found = FirstSelected(state_view.state(), selector);
    if (found == nullptr) {
      return [this, reactor, reply, selector](const absl::Status&) {
        ReadAside(reader_, reactor, [this, reactor, reply, selector] {
          reactor->Finish(ExplainEnded(selector, *reply));
        });
      };
    }
    const Job& job = *found;
    ToWire(ViewIn(state_view, job), reply->mutable_job());
    if (job.attempt.has_value()) {
      ToWire(job.attempt->allocation, reply->mutable_allocation());
      AddExplanation(ExplainPlacement(state_view, job), *reply);
      const auto snapshot = core::BuildSnapshot(state_view.state(), state_view.now(), nullptr,
                                                controller_.policy()->network);
      return [this, reactor, reply, snapshot, id = job.id, spec = job.spec,
              allocation = job.attempt->allocation](const absl::Status& status) {
        ReadAside(reader_, reactor, [reactor, reply, snapshot, id, spec, allocation, status] {
          PlacementQuality worth =
              core::WorthOf(allocation, snapshot->nodes, snapshot->network.get());
          core::Compare(id, allocation, spec->request, snapshot->nodes, snapshot->network.get(),
                        worth);
          ToWire(worth, reply->mutable_placement());
          reactor->Finish(ToGrpc(status));
        });
      };
    }
    const std::shared_ptr<const Plan> plan =
        state_view.plan() != nullptr ? state_view.plan() : std::make_shared<const Plan>();
    const auto snapshot = core::BuildSnapshot(state_view.state(), state_view.now(), plan.get(),
                                              controller_.policy()->network);
    return [this, reactor, reply, snapshot, plan, id = job.id](const absl::Status& status) {
      ReadAside(reader_, reactor, [this, reactor, reply, snapshot, plan, id, status] {
        const std::shared_ptr<const PolicyConfig> settings = controller_.policy();
        const PolicyConfig& policy = *settings;
        AddExplanation(core::ExplainWaiting(*snapshot, id, *plan, policy), *reply);
        AddSuggestions(core::SuggestChanges(*snapshot, id, policy), *reply);
        reactor->Finish(ToGrpc(status));
      });
    };
  });
}

void JobReader::TestSubmit(const Call& call, const wire::SubmitRequest& request,
                           wire::TestSubmitReply* reply) {
  auto* const reactor = call.reactor;
  absl::StatusOr<SubmitJob> read = ReadSubmission(request, call.caller.user);
  if (!read.ok()) {
    reactor->Finish(ToGrpc(read.status()));
    return;
  }
  controller_.Look([this, reactor, reply,
                    input = *std::move(read)](const StateView& state_view) -> Controller::Reply {
    const core::Transition transition =
        core::Handle(state_view.state(), input, state_view.now(), *controller_.policy());
    if (!transition.status.ok() || transition.events.empty()) {
      // Without an event its token was that of a job that is there.
      return [reactor, refused = transition.status](const absl::Status&) {
        reactor->Finish(ToGrpc(refused));
      };
    }
    const auto snapshot = std::make_shared<const Snapshot>(
        WithJob(*core::BuildSnapshot(state_view.state(), state_view.now(), state_view.plan().get(),
                                     controller_.policy()->network),
                std::get<JobSubmitted>(transition.events.front())));
    return [this, reactor, reply, snapshot, job = transition.job](const absl::Status& done) {
      ReadAside(reader_, reactor, [this, reactor, reply, snapshot, job, done] {
        AddForecast(*snapshot, core::ForecastOf(*snapshot, job, *controller_.policy()), *reply);
        reactor->Finish(ToGrpc(done));
      });
    };
  });
}

}  // namespace muster::daemon
