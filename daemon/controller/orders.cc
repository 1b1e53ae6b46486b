#include "daemon/controller/orders.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/policy/deadline.h"
#include "scheduler/core/policy/kill_grace.h"
#include "scheduler/core/state/job_group.h"
#include "scheduler/model/job/program_check.h"
#include "scheduler/model/value/wire_size.h"

namespace muster::daemon {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

const Attempt* FindAttempt(const core::ClusterState& state, JobId id, AttemptNumber number) {
  const Job* job = state.FindJob(id);
  const bool there = job != nullptr && job->attempt.has_value() && job->attempt->number == number;
  return there ? &*job->attempt : nullptr;
}

// What the nodes of a component must know of all components; nothing for a plain job.
std::vector<ComponentExtent> ExtentsOf(const core::ClusterState& state, const Job& job) {
  std::vector<ComponentExtent> extents;
  if (IsComponent(job)) {
    for (const Job* component : core::GroupOf(state, job)) {
      extents.push_back(ComponentExtent{
          component->id, component->spec->request,
          component->attempt.has_value() ? component->attempt->allocation : Allocation()});
    }
  }
  return extents;
}

// Whose program it runs: a component its own, an element its array's.
JobId ProgramOf(const LaunchOrder& order) {
  return order.components.empty() ? order.submission : order.job;
}

}  // namespace

std::optional<PreparedOrder> Orders::Prepare(const core::ClusterState& state, const Effect& effect,
                                             Time now, const SchedulerConfig& config) const {
  using Result = std::optional<PreparedOrder>;
  return std::visit(
      Overloaded{
          [](const Replan&) -> Result { return std::nullopt; },
          [](const SwitchPower&) -> Result { return std::nullopt; },
          [](const Acknowledge& ack) -> Result {
            return PreparedOrder{ack.node, ack, nullptr};
          },
          [&](const Terminate& end) -> Result {
            const Job* job = state.FindJob(end.job);
            const Duration grace = job != nullptr ? core::KillGraceOf(state.policy().site(),
                                                                      *job->spec, end.cause, config)
                                                  : Duration(0);
            return PreparedOrder{
                end.node,
                TerminateOrder{end.job, end.attempt, state.epoch(), end.node, end.cause, grace},
                nullptr};
          },
          [&](const Suspend& stop) -> Result {
            return PreparedOrder{stop.node,
                                 SuspendOrder{stop.job, stop.attempt, state.epoch(), stop.node,
                                              stop.suspension, false},
                                 nullptr};
          },
          [&](const Resume& go) -> Result {
            return PreparedOrder{
                go.node,
                SuspendOrder{go.job, go.attempt, state.epoch(), go.node, go.suspension, true},
                nullptr};
          },
          [&](const CheckHealth& check) -> Result {
            const NodeHealth& health = state.health().Of(check.node);
            return PreparedOrder{
                check.node,
                HealthOrder{cluster_, check.node, state.epoch(), health.number, health.kind},
                nullptr};
          },
          [&](const DivideGpu& divide) -> Result { return PrepareLayout(state, divide); },
          [&](const PassSignal& signal) -> Result {
            SignalOrder order = signal.order;
            order.epoch = state.epoch();
            return PreparedOrder{order.node, order, nullptr};
          },
          [&](const ShowStep& show) -> Result {
            AttachOrder order = show.order;
            order.epoch = state.epoch();
            return PreparedOrder{order.node, order, nullptr};
          },
          [&](const Advise& advise) -> Result {
            const Attempt* attempt = FindAttempt(state, advise.job, advise.attempt);
            if (attempt == nullptr) {
              return std::nullopt;
            }
            return PreparedOrder{advise.node,
                                 AdviceOrder{advise.job, advise.attempt, state.epoch(), advise.node,
                                             attempt->advice},
                                 nullptr};
          },
          [&](const Launch& launch) -> Result { return PrepareLaunch(state, launch, now, config); },
          [&](const LaunchStep& launch) -> Result { return PrepareStep(state, launch, now); },
      },
      effect);
}

std::optional<PreparedOrder> Orders::PrepareLayout(const core::ClusterState& state,
                                                   const DivideGpu& divide) const {
  const Node* node = state.FindNode(divide.node);
  for (const GpuLayout& layout : node == nullptr ? std::vector<GpuLayout>() : node->gpu_layouts) {
    if (layout.gpu == divide.gpu && layout.phase == LayoutPhase::kOrdered) {
      return PreparedOrder{divide.node,
                           LayoutOrder{cluster_, divide.node, state.epoch(), layout.number,
                                       layout.gpu, layout.instances},
                           nullptr};
    }
  }
  return std::nullopt;
}

std::optional<PreparedOrder> Orders::PrepareStep(const core::ClusterState& state,
                                                 const LaunchStep& launch, Time now) const {
  const Attempt* attempt = FindAttempt(state, launch.job, launch.attempt);
  if (attempt == nullptr) {
    return std::nullopt;
  }
  const auto step = std::find_if(attempt->steps.begin(), attempt->steps.end(),
                                 [&](const StepRun& run) { return run.id == launch.step; });
  if (step == attempt->steps.end()) {
    return std::nullopt;
  }
  StepOrder order{cluster_,    launch.job,       launch.attempt, launch.step,    state.epoch(),
                  launch.node, now + kOrderLife, Program(),      step->placement};
  return PreparedOrder{launch.node, std::move(order), Find(KeyOf(launch.job, launch.step))};
}

std::optional<PreparedOrder> Orders::PrepareLaunch(const core::ClusterState& state,
                                                   const Launch& launch, Time now,
                                                   const SchedulerConfig& config) const {
  const Attempt* attempt = FindAttempt(state, launch.job, launch.attempt);
  if (attempt == nullptr) {
    return std::nullopt;
  }
  const Job& job = *state.FindJob(launch.job);
  LaunchOrder order{cluster_,
                    job.id,
                    job.submission,
                    job.array_index,
                    launch.attempt,
                    state.epoch(),
                    launch.node,
                    now + kOrderLife,
                    attempt->started,
                    *job.spec,
                    Program(),
                    attempt->allocation,
                    ExtentsOf(state, job),
                    secrets_.Of(job.id, launch.attempt),
                    attempt->advice,
                    config.checkpoint.quota};
  order.spec.time_limit = core::LimitFrom(order.spec, order.started);
  order.spec.kill_grace = core::WithinGrace(order.spec.kill_grace, config);
  order.spec.partition = attempt->partition;  // the one of several that it runs in
  std::shared_ptr<const Program> program = Find(KeyOf(ProgramOf(order), StepId()));
  return PreparedOrder{launch.node, std::move(order), std::move(program)};
}

absl::Status Orders::Complete(PreparedOrder& prepared) const {
  if (auto* launch = std::get_if<LaunchOrder>(&prepared.order)) {
    if (prepared.program != nullptr) {
      launch->program = *prepared.program;
    } else {
      ASSIGN_OR_RETURN(launch->program, store_.ReadProgram(ProgramOf(*launch)));
    }
    SetPaths(launch->spec.paths, launch->program);
  } else if (auto* step = std::get_if<StepOrder>(&prepared.order)) {
    if (prepared.program != nullptr) {
      step->program = *prepared.program;
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(StepStarted started, store_.ReadStep(step->job, step->attempt, step->step));
    step->program = std::move(started.program);
  }
  return absl::OkStatus();
}

void Orders::Learn(const Event& event) {
  if (const auto* submitted = std::get_if<JobSubmitted>(&event)) {
    Keep(KeyOf(submitted->first, StepId()), submitted->program);
    JobId id = submitted->first;
    for (const Component& component : submitted->components) {
      id = id.Next();
      Keep(KeyOf(id, StepId()),
           component.spec.kind == JobKind::kRun ? component.program : submitted->program);
    }
  } else if (const auto* step = std::get_if<StepStarted>(&event)) {
    if (!step->program.argv.empty()) {  // else it has waited, and is at hand already
      Keep(KeyOf(step->job, step->step), step->program);
    }
  } else if (const auto* queued = std::get_if<StepQueued>(&event)) {
    Keep(KeyOf(queued->job, queued->step), queued->program);
  }
}

Orders::Key Orders::KeyOf(JobId job, StepId step) {
  return absl::StrCat(job.value(), ".", step.value());
}

std::shared_ptr<const Program> Orders::Find(const Key& key) const {
  const auto found = programs_.find(key);
  return found == programs_.end() ? nullptr : found->second;
}

void Orders::Keep(Key key, const Program& program) {
  std::shared_ptr<const Program>& kept = programs_[key];
  // A submission that was refused because it could not be stored leaves its id to the next one.
  const bool again = kept != nullptr;
  bytes_ += WireBytes(program) - (again ? WireBytes(*kept) : 0);
  kept = std::make_shared<const Program>(program);
  if (!again) {
    order_.push_back(std::move(key));
  }
  // What is not at hand is read from the store.
  while (order_.size() > kProgramsMax || (bytes_ > kProgramBytesKept && order_.size() > 1)) {
    const auto oldest = programs_.find(order_.front());
    bytes_ -= WireBytes(*oldest->second);
    programs_.erase(oldest);
    order_.pop_front();
  }
}

}  // namespace muster::daemon
