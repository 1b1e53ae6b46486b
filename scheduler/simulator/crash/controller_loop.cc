#include "scheduler/simulator/crash/controller_loop.h"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/policy/deadline.h"
#include "scheduler/core/policy/kill_grace.h"
#include "scheduler/core/state/invariants.h"

namespace muster::sim {
namespace {

constexpr Duration kPlanMax{100};  // what a cycle takes
constexpr Duration kOrderLife{120'000};
constexpr Duration kElasticLook{1'000};

}  // namespace

ControllerLoop::ControllerLoop(const ControllerContext& world, std::size_t index,
                               SchedulerConfig policy)
    : world_(world),
      index_(index),
      policy_(std::make_shared<const SchedulerConfig>(std::move(policy))) {}

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
  last_plan_ = nullptr;
  planner_memory_.Forget();
  snapshots_.Forget();
  plan_check_ = PlanCheck();
  node_of_.clear();
  owner_.clear();
  welcomed_.clear();
}

void ControllerLoop::Take(Command command, Done done) {
  if (alive_) {
    Plant(world_.defect, state_, life_ > 0, &command);
    Perform(Judge(command), std::move(done));
  }
}

std::shared_ptr<const core::Transition> ControllerLoop::Judge(const Command& command) {
  auto transition =
      std::make_shared<const core::Transition>(core::Handle(state_, command, Now(), *policy_));
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
}

void ControllerLoop::TickElasticJobs() {
  ticking_ = false;
  Perform(Judge(TickElastic{}), nullptr);
}

void ControllerLoop::Apply(const std::vector<Event>& events) {
  for (const Event& event : events) {
    state_.Apply(event);
    snapshots_.Note(event, state_.version());
    group_.entries.push_back(JournalEntry{state_.version(), event});
  }
  if (const std::optional<std::string> broken = core::BrokenInvariant(state_)) {
    world_.oracle.Broken(absl::StrCat("invariant: ", *broken));
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
    std::optional<ToAgent> order = OrderOf(effect);
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

std::optional<ToAgent> ControllerLoop::OrderOf(const Effect& effect) const {
  const Time expiry = Now() + kOrderLife;
  if (const auto* ack = std::get_if<Acknowledge>(&effect)) {
    return *ack;
  }
  if (const auto* end = std::get_if<Terminate>(&effect)) {
    const Job* job = state_.FindJob(end->job);
    const Duration grace =
        job != nullptr ? core::KillGraceOf(state_.policy().site(), *job->spec, end->cause, *policy_)
                       : Duration(0);
    return TerminateOrder{end->job, end->attempt, state_.epoch(), end->node, end->cause, grace};
  }
  if (const auto* stop = std::get_if<Suspend>(&effect)) {
    return SuspendOrder{stop->job,  stop->attempt,    state_.epoch(),
                        stop->node, stop->suspension, false};
  }
  if (const auto* go = std::get_if<Resume>(&effect)) {
    return SuspendOrder{go->job, go->attempt, state_.epoch(), go->node, go->suspension, true};
  }
  if (const auto* advise = std::get_if<Advise>(&effect)) {
    const Job* job = state_.FindJob(advise->job);
    if (job != nullptr && job->attempt.has_value() && job->attempt->number == advise->attempt) {
      return AdviceOrder{advise->job, advise->attempt, state_.epoch(), advise->node,
                         job->attempt->advice};
    }
  }
  if (const auto* launch = std::get_if<Launch>(&effect)) {
    const Job* job = state_.FindJob(launch->job);
    if (job != nullptr && job->attempt.has_value() && job->attempt->number == launch->attempt) {
      LaunchOrder order{"simulated",
                        job->id,
                        job->submission,
                        job->array_index,
                        launch->attempt,
                        state_.epoch(),
                        launch->node,
                        expiry,
                        job->attempt->started,
                        *job->spec,
                        Program(),
                        job->attempt->allocation,
                        {}};
      order.spec.time_limit = core::LimitFrom(order.spec, order.started);
      return order;
    }
  }
  if (const auto* launch = std::get_if<LaunchStep>(&effect)) {
    // The placement stays here: a simulated step has no ranks to bind.
    return StepOrder{"simulated",  launch->job, launch->attempt, launch->step, state_.epoch(),
                     launch->node, expiry,      Program(),       Allocation()};
  }
  return std::nullopt;
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
  const auto snapshot = snapshots_.Build(state_, Now(), last_plan_.get(), policy_->network);
  auto plan = std::make_shared<const Plan>(core::MakePlan(snapshot, *policy_, planner_memory_));
  if (const std::optional<std::string> wrong = plan_check_.Look(*snapshot, *plan, *policy_)) {
    world_.oracle.Broken(*wrong);
  }
  const CycleRecord cycle{plan->version, snapshot->now, plan->hash, last_plan_ != nullptr, policy_};
  Later(world_.faults.Between(Duration(0), kPlanMax), [this, plan, cycle, plans = plans_] {
    if (plans == plans_) {
      last_plan_ = plan;
      group_.cycles.push_back(cycle);
      OnPlan(*plan);
    }
  });
}

void ControllerLoop::OnPlan(const Plan& plan) {
  planning_ = false;
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
  MaybePlan();
}

}  // namespace muster::sim
