#include "scheduler/simulator/crash/controller_loop.h"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/plan/mig_demand.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/plan/power_demand.h"
#include "scheduler/core/policy/deadline.h"
#include "scheduler/core/policy/kill_grace.h"
#include "scheduler/core/state/invariants.h"
#include "scheduler/core/state/job_group.h"

namespace muster::sim {
namespace {

constexpr Duration kPlanMax{100};  // what a cycle takes
constexpr Duration kOrderLife{120'000};
constexpr Duration kElasticLook{1'000};
constexpr Duration kNodesLook{2'000};

// What the nodes of a component know of all components; nothing for a plain job.
std::vector<ComponentExtent> ExtentsOf(const core::ClusterState& state, const Job& job) {
  std::vector<ComponentExtent> extents;
  for (const Job* component : core::GroupOf(state, job)) {
    if (IsComponent(job) && component->attempt.has_value()) {
      extents.push_back(
          ComponentExtent{component->id, component->spec->request, component->attempt->allocation});
    }
  }
  return extents;
}

std::optional<ToAgent> StepOrNodeOrder(const core::ClusterState& state, const Effect& effect,
                                       Time expiry) {
  if (const auto* check = std::get_if<CheckHealth>(&effect)) {
    const NodeHealth& health = state.health().Of(check->node);
    return HealthOrder{"simulated", check->node, state.epoch(), health.number, health.kind};
  }
  if (const auto* divide = std::get_if<DivideGpu>(&effect)) {
    const Node* node = state.FindNode(divide->node);
    for (const GpuLayout& layout : node == nullptr ? std::vector<GpuLayout>() : node->gpu_layouts) {
      if (layout.gpu == divide->gpu) {
        return LayoutOrder{"simulated",   divide->node, state.epoch(),
                           layout.number, layout.gpu,   layout.instances};
      }
    }
  }
  if (const auto* pass = std::get_if<PassSignal>(&effect)) {
    SignalOrder order = pass->order;
    order.epoch = state.epoch();
    return order;
  }
  if (const auto* launch = std::get_if<LaunchStep>(&effect)) {
    // The placement stays here: a simulated step has no ranks to bind.
    return StepOrder{"simulated",  launch->job, launch->attempt, launch->step, state.epoch(),
                     launch->node, expiry,      Program(),       Allocation()};
  }
  return std::nullopt;
}

// What tells the agent of the effect, if anything does.
std::optional<ToAgent> OrderOf(const core::ClusterState& state, const SchedulerConfig& policy,
                               const Effect& effect, Time expiry) {
  if (const auto* ack = std::get_if<Acknowledge>(&effect)) {
    return *ack;
  }
  if (const auto* end = std::get_if<Terminate>(&effect)) {
    const Job* job = state.FindJob(end->job);
    const Duration grace =
        job != nullptr ? core::KillGraceOf(state.policy().site(), *job->spec, end->cause, policy)
                       : Duration(0);
    return TerminateOrder{end->job, end->attempt, state.epoch(), end->node, end->cause, grace};
  }
  if (const auto* stop = std::get_if<Suspend>(&effect)) {
    return SuspendOrder{stop->job,  stop->attempt,    state.epoch(),
                        stop->node, stop->suspension, false};
  }
  if (const auto* go = std::get_if<Resume>(&effect)) {
    return SuspendOrder{go->job, go->attempt, state.epoch(), go->node, go->suspension, true};
  }
  if (const auto* advise = std::get_if<Advise>(&effect)) {
    const Job* job = state.FindJob(advise->job);
    if (job != nullptr && job->attempt.has_value() && job->attempt->number == advise->attempt) {
      return AdviceOrder{advise->job, advise->attempt, state.epoch(), advise->node,
                         job->attempt->advice};
    }
  }
  if (const auto* launch = std::get_if<Launch>(&effect)) {
    const Job* job = state.FindJob(launch->job);
    if (job != nullptr && job->attempt.has_value() && job->attempt->number == launch->attempt) {
      LaunchOrder order{
          "simulated",           job->id,       job->submission, job->array_index,
          launch->attempt,       state.epoch(), launch->node,    expiry,
          job->attempt->started, *job->spec,    Program(),       job->attempt->allocation,
          ExtentsOf(state, *job)};
      order.spec.time_limit = core::LimitFrom(order.spec, order.started);
      return order;
    }
  }
  return StepOrNodeOrder(state, effect, expiry);
}

}  // namespace

ControllerLoop::ControllerLoop(const ControllerContext& world, std::size_t index,
                               SchedulerConfig policy)
    : world_(world),
      index_(index),
      policy_(std::make_shared<const SchedulerConfig>(std::move(policy))),
      judges_{PlanCheck(), Asks(world.seed), Mistakes(~world.seed)} {}

void ControllerLoop::Later(Duration delay, std::function<void()> action) {
  world_.clock.After(delay, [this, action = std::move(action), life = life_] {
    if (alive_ && life == life_) {
      Act(action);
    }
  });
}

void ControllerLoop::BeginTerm(bool restored) {
  core::Transition transition = core::Handle(state_, BeginEpoch{restored}, Now(), *policy_);
  Plant(world_.defect, &transition.events);
  Apply(transition.events);
  Dispatch(transition.effects);
}

void ControllerLoop::Forget() {
  ++plans_;
  plan_wanted_ = false;
  planning_ = false;
  ticking_ = false;
  looking_ = false;
  last_plan_ = nullptr;
  power_watch_ = core::PowerWatch();
  memory_.estimates = core::JobEstimates();
  memory_.planner.Forget();
  memory_.snapshots.Forget();
  judges_.plans = PlanCheck();
  node_of_.clear();
  owner_.clear();
  welcomed_.clear();
}

void ControllerLoop::Take(Command command, Done done) {
  if (alive_) {
    if (world_.whole) {
      rows_.Tell(&command);
    }
    Plant(world_.defect, state_, life_ > 0, &command);
    Perform(Judge(command), std::move(done));
  }
}

std::shared_ptr<const core::Transition> ControllerLoop::Judge(const Command& command) {
  if (world_.whole) {
    if (const auto wrong = judges_.commands.Look(state_, command, Now(), *policy_)) {
      world_.oracle.Broken(*wrong);
    }
  }
  auto transition =
      std::make_shared<core::Transition>(core::Handle(state_, command, Now(), *policy_));
  if (world_.whole) {
    memory_.estimates.AddTo(transition->events);
  }
  if (!transition->status.ok() && (!transition->events.empty() || !transition->effects.empty())) {
    world_.oracle.Broken("a refused input made events or effects");
  }
  Apply(transition->events);
  return transition;
}

void ControllerLoop::Perform(const std::shared_ptr<const core::Transition>& transition, Done done) {
  if (done && world_.defect == LifeDefect::kAnsweredEarly) {
    done(*transition);
  } else if (done) {
    group_.after.emplace_back([transition, done = std::move(done)] { done(*transition); });
  }
  Dispatch(transition->effects);
  WriteSoon();
  MaybePlan();
  WatchElastic();
}

void ControllerLoop::WatchElastic() {
  if (!state_.index().elastic().empty() && !std::exchange(ticking_, true)) {
    Later(kElasticLook, [this] { TickElasticJobs(); });
  }
  if (world_.whole && !std::exchange(looking_, true)) {
    Later(kNodesLook, [this] { LookAtNodes(); });
  }
}

void ControllerLoop::LookAtNodes() {
  std::vector<Command> commands = {TickHealth{}, LayOutGpus{}};
  if (std::optional<SwitchNodes> orders =
          power_watch_.Look(state_, last_plan_.get(), *policy_, Now())) {
    commands.emplace_back(*std::move(orders));
  }
  for (const Command& command : commands) {
    const core::Transition found = core::Handle(state_, command, Now(), *policy_);
    if (!found.events.empty() || !found.effects.empty()) {
      Perform(Judge(command), nullptr);
    }
  }
  Later(kNodesLook, [this] { LookAtNodes(); });
}

void ControllerLoop::TickElasticJobs() {
  ticking_ = false;
  Perform(Judge(TickElastic{}), nullptr);
}

void ControllerLoop::Apply(const std::vector<Event>& events) {
  for (const Event& event : events) {
    if (const auto* ended = std::get_if<JobEnded>(&event); ended != nullptr && world_.whole) {
      if (const Job* job = state_.FindJob(ended->job)) {
        memory_.estimates.Observe(*job, *ended);
      }
    }
    judges_.answers.Note(event);
    if (world_.whole) {
      rows_.Note(state_, event);
    }
    state_.Apply(event);
    memory_.snapshots.Note(event, state_.version());
    group_.entries.push_back(JournalEntry{state_.version(), event});
  }
  for (const auto& broken : {core::BrokenInvariant(state_), core::BrokenGroup(state_)}) {
    if (broken.has_value()) {
      world_.oracle.Broken(absl::StrCat("invariant: ", *broken));
    }
  }
}

void ControllerLoop::Receive(Session session, const ToController& message) {
  if (const auto* told = std::get_if<Report>(&message)) {
    const auto sender = node_of_.find(session);
    if (sender == node_of_.end()) {
      return;
    }
    NodeId node = sender->second;
    Report report = *told;
    if (!Plant(world_.defect, state_, &node, &report)) {
      world_.network.SendDown(session, Acknowledge{node, report.job, report.attempt, report.index});
      return;
    }
    Take(TakeReport{node, report}, [this, session](const core::Transition& transition) {
      if (!transition.status.ok()) {
        world_.network.Cut(session);
      }
    });
    return;
  }
  if (const auto* checked = std::get_if<HealthReport>(&message)) {
    if (const auto sender = node_of_.find(session); sender != node_of_.end()) {
      Take(TakeHealthReport{sender->second, *checked}, nullptr);
    }
    return;
  }
  Registration registration = std::get<Registration>(message);
  Plant(world_.defect, state_, &registration);
  auto transition =
      std::make_shared<core::Transition>(*Judge(RegisterAgent{std::move(registration)}));
  Plant(world_.defect, &transition->effects);
  if (transition->status.ok()) {
    node_of_[session] = transition->node;
    owner_[transition->node] = session;
  }
  Perform(transition,
          [this, session](const core::Transition& durable) { Answer(session, durable); });
}

// Answers a registration; from then on the node's orders go that way.
void ControllerLoop::Answer(Session session, const core::Transition& transition) {
  if (!transition.status.ok()) {
    world_.network.SendDown(session, Refusal{std::string(transition.status.message())});
    return;
  }
  const Welcome welcome{transition.node, state_.epoch()};
  Leaving(welcome);
  world_.network.SendDown(session, welcome);
  if (owner_[transition.node] == session) {
    welcomed_[transition.node] = session;
  }
}

void ControllerLoop::NoticeLoss(Session session, Duration silent) {
  const auto node = node_of_.find(session);
  if (node == node_of_.end() || owner_[node->second] != session) {
    return;
  }
  welcomed_.erase(node->second);
  for (const Report& end : ImaginedEnds(world_.defect, state_, node->second, Now())) {
    Take(TakeReport{node->second, end}, nullptr);
  }
  Take(LoseAgent{node->second, silent}, nullptr);
}

void ControllerLoop::Dispatch(const std::vector<Effect>& effects) {
  for (const Effect& effect : effects) {
    if (std::holds_alternative<Replan>(effect)) {
      plan_wanted_ = true;
      continue;
    }
    if (const auto* power = std::get_if<SwitchPower>(&effect)) {
      if (const Node* node = state_.FindNode(power->node); node != nullptr && world_.power) {
        group_.after.emplace_back(
            [this, name = node->name, on = power->on] { world_.power(name, on); });
      }
      continue;
    }
    std::optional<ToAgent> order = OrderOf(state_, *policy_, effect, Now() + kOrderLife);
    if (!order.has_value()) {
      continue;
    }
    const NodeId node = std::visit(
        [](const auto& to) {
          if constexpr (requires { to.node; }) {
            return to.node;
          }
          return NodeId();
        },
        effect);
    auto leave = [this, node, order = *std::move(order)] {
      if (const auto session = welcomed_.find(node); session != welcomed_.end()) {
        Leaving(order);
        world_.network.SendDown(session->second, order);
      }
    };
    if (world_.defect == LifeDefect::kAcknowledgedEarly &&
        std::holds_alternative<Acknowledge>(effect)) {
      leave();
    } else {
      group_.after.emplace_back(std::move(leave));
    }
  }
}

void ControllerLoop::MaybePlan() {
  if (!plan_wanted_ || planning_) {
    return;
  }
  plan_wanted_ = false;
  if (!core::NeedsCycle(state_)) {
    last_plan_ = nullptr;
    return;
  }
  planning_ = true;
  // The cycle looks at the snapshot of now; its plan comes back later, stale or not.
  const auto snapshot = memory_.snapshots.Build(state_, Now(), last_plan_.get(), policy_->network);
  auto plan = std::make_shared<const Plan>(core::MakePlan(snapshot, *policy_, memory_.planner));
  if (const std::optional<std::string> wrong = judges_.plans.Look(*snapshot, *plan, *policy_)) {
    world_.oracle.Broken(*wrong);
  }
  Beside beside;
  if (world_.whole) {
    const std::optional<std::string> wrong =
        judges_.answers.Look(state_, *snapshot, *plan, *policy_);
    if (wrong.has_value()) {
      world_.oracle.Broken(*wrong);
    }
    beside = Beside{core::NodesWanted(*snapshot, *plan, *policy_),
                    core::GpusWanted(*snapshot, *plan, *policy_)};
  }
  const CycleRecord cycle{plan->version, snapshot->now, plan->hash, last_plan_ != nullptr, policy_};
  Later(world_.faults.Between(Duration(0), kPlanMax), [this, plan, cycle, beside, plans = plans_] {
    if (plans == plans_) {
      last_plan_ = plan;
      group_.cycles.push_back(cycle);
      OnPlan(*plan, beside);
    }
  });
}

void ControllerLoop::OnPlan(const Plan& plan, const Beside& beside) {
  planning_ = false;
  power_watch_.Want(beside.wanted);
  if (plan.wake != kNoTime) {
    Later(plan.wake - Now(), [this, plans = plans_] {
      if (plans == plans_) {
        plan_wanted_ = true;
        MaybePlan();
      }
    });
  }
  if (HasWork(plan, Now())) {
    Take(TakePlan{plan}, nullptr);
  }
  if (!beside.divided.empty()) {
    Take(LayOutGpus{beside.divided}, nullptr);
  }
  MaybePlan();
}

}  // namespace muster::sim
