#include "scheduler/simulator/crash/simulated_controller.h"

#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/explain/replay.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/policy/deadline.h"
#include "scheduler/core/policy/kill_grace.h"
#include "scheduler/core/state/invariants.h"
#include "scheduler/core/state/state_hash.h"

namespace muster::sim {
namespace {

constexpr Duration kGather{5};      // inputs that come so close share a commit
constexpr Duration kCommitMax{30};  // a commit takes up to
constexpr Duration kPlanMax{100};   // and a cycle
constexpr Duration kOrderLife{120'000};
constexpr Duration kElasticLook{1'000};
constexpr std::size_t kFingerprintEvery = 8;  // commits: a fingerprint reads the whole state
constexpr Duration kControllerAwayMin{100};
constexpr Duration kControllerAwayMax{60'000};

// Applies the entry and checks the cycles made at its version, which are then behind; the first
// difference.
std::optional<core::ReplayDifference> DifferenceAt(const JournalEntry& entry,
                                                   std::span<const CycleRecord>& cycles,
                                                   core::Replay& replay) {
  std::optional<core::ReplayDifference> difference = replay.Apply(entry);
  for (; !cycles.empty() && cycles.front().version == entry.version; cycles = cycles.subspan(1)) {
    std::optional<core::ReplayDifference> other = replay.Check(cycles.front());
    difference = difference.has_value() ? difference : other;
  }
  return difference;
}

}  // namespace

SimulatedController::SimulatedController(VirtualClock& clock, SimulatedNetwork& network,
                                         Faults& faults, Oracle& oracle, SchedulerConfig policy)
    : clock_(clock),
      network_(network),
      faults_(faults),
      oracle_(oracle),
      policy_(std::make_shared<const SchedulerConfig>(std::move(policy))) {}

void SimulatedController::Later(Duration delay, void (SimulatedController::*action)()) {
  clock_.After(delay, [this, action, life = life_] {
    if (alive_ && life == life_) {
      (this->*action)();
    }
  });
}

void SimulatedController::Start() {
  for (const JournalEntry& entry : journal_) {
    state_.Apply(entry.event);
  }
  alive_ = true;
  if (!commits_.empty() && commits_.back().fingerprint.has_value() &&
      core::HashOf(state_) != *commits_.back().fingerprint) {
    oracle_.Broken("promise 6: the restarted controller has another state");
  }
  // The epoch is durable before anybody is listened to.
  const core::Transition transition = core::Handle(state_, BeginEpoch{}, clock_.now(), *policy_);
  Apply(transition.events);
  group_.fingerprint = core::HashOf(state_);
  Keep(group_);
  group_ = Group();
  Dispatch(transition.effects);
  network_.Listen();
  MaybePlan();
  WatchElastic();
}

void SimulatedController::Die() {
  if (!alive_) {
    return;
  }
  ++faults_.counts().controllers_died;
  alive_ = false;
  ++life_;
  if (writing_.has_value() && faults_.Chance(500)) {
    Keep(*writing_);
  }
  writing_.reset();
  group_ = Group();
  write_asked_ = false;
  plan_wanted_ = false;
  planning_ = false;
  ticking_ = false;
  last_plan_ = nullptr;
  planner_memory_.Forget();
  snapshots_.Forget();
  node_of_.clear();
  owner_.clear();
  welcomed_.clear();
  state_ = core::ClusterState();
  network_.StopListening();
  clock_.After(faults_.Between(kControllerAwayMin, kControllerAwayMax), [this] { Start(); });
}

bool SimulatedController::idle() const {
  return alive_ && !writing_.has_value() && group_.entries.empty() && group_.after.empty() &&
         !plan_wanted_ && !planning_ && state_.jobs().empty();
}

void SimulatedController::Take(const Command& command, Done done) {
  if (alive_) {
    Perform(Judge(command), std::move(done));
  }
}

std::shared_ptr<const core::Transition> SimulatedController::Judge(const Command& command) {
  auto transition = std::make_shared<const core::Transition>(
      core::Handle(state_, command, clock_.now(), *policy_));
  if (!transition->status.ok() && (!transition->events.empty() || !transition->effects.empty())) {
    oracle_.Broken("a refused input made events or effects");
  }
  Apply(transition->events);
  return transition;
}

void SimulatedController::Perform(const std::shared_ptr<const core::Transition>& transition,
                                  Done done) {
  if (done) {
    group_.after.emplace_back([transition, done = std::move(done)] { done(*transition); });
  }
  Dispatch(transition->effects);
  WriteSoon();
  MaybePlan();
  WatchElastic();
}

void SimulatedController::WatchElastic() {
  if (!state_.index().elastic().empty() && !std::exchange(ticking_, true)) {
    Later(kElasticLook, &SimulatedController::TickElasticJobs);
  }
}

void SimulatedController::TickElasticJobs() {
  ticking_ = false;
  Perform(Judge(TickElastic{}), nullptr);
}

void SimulatedController::Apply(const std::vector<Event>& events) {
  for (const Event& event : events) {
    state_.Apply(event);
    snapshots_.Note(event, state_.version());
    group_.entries.push_back(JournalEntry{state_.version(), event});
  }
  if (const std::optional<std::string> broken = core::BrokenInvariant(state_)) {
    oracle_.Broken(absl::StrCat("invariant: ", *broken));
  }
}

void SimulatedController::Receive(Session session, const ToController& message) {
  if (const auto* report = std::get_if<Report>(&message)) {
    const auto node = node_of_.find(session);
    if (node != node_of_.end()) {
      Take(TakeReport{node->second, *report}, [this, session](const core::Transition& transition) {
        if (!transition.status.ok()) {
          network_.Cut(session);
        }
      });
    }
    return;
  }
  const std::shared_ptr<const core::Transition> transition =
      Judge(RegisterAgent{std::get<Registration>(message)});
  if (transition->status.ok()) {
    node_of_[session] = transition->node;
    owner_[transition->node] = session;
  }
  Perform(transition,
          [this, session](const core::Transition& durable) { Answer(session, durable); });
}

// Answers a registration; from then on the node's orders go that way.
void SimulatedController::Answer(Session session, const core::Transition& transition) {
  if (!transition.status.ok()) {
    network_.SendDown(session, Refusal{std::string(transition.status.message())});
    return;
  }
  network_.SendDown(session, Welcome{transition.node, state_.epoch()});
  if (owner_[transition.node] == session) {
    welcomed_[transition.node] = session;
  }
}

void SimulatedController::NoticeLoss(Session session, Duration silent) {
  const auto node = node_of_.find(session);
  if (node == node_of_.end() || owner_[node->second] != session) {
    return;
  }
  welcomed_.erase(node->second);
  Take(LoseAgent{node->second, silent}, nullptr);
}

void SimulatedController::Dispatch(const std::vector<Effect>& effects) {
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
    group_.after.emplace_back([this, node, order = *std::move(order)] { Send(node, order); });
  }
}

std::optional<ToAgent> SimulatedController::OrderOf(const Effect& effect) const {
  const Time expiry = clock_.now() + kOrderLife;
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

void SimulatedController::Send(NodeId node, const ToAgent& message) {
  const auto session = welcomed_.find(node);
  if (session != welcomed_.end()) {
    network_.SendDown(session->second, message);
  }
}

void SimulatedController::WriteSoon() {
  if (write_asked_ || writing_.has_value() || (group_.entries.empty() && group_.after.empty())) {
    return;
  }
  write_asked_ = true;
  Later(faults_.Between(Duration(0), kGather), &SimulatedController::CloseGroup);
}

void SimulatedController::CloseGroup() {
  write_asked_ = false;
  if (faults_.DiesAt(DeathPoint::kBeforeCommit)) {
    Die();
    return;
  }
  writing_ = std::exchange(group_, Group());
  if (writing_->entries.empty()) {
    group_.cycles.swap(writing_->cycles);  // they wait for the next event
  }
  if (commits_.size() % kFingerprintEvery == 0) {
    writing_->fingerprint = core::HashOf(state_);
  }
  if (faults_.DiesAt(DeathPoint::kInCommit)) {
    Die();
    return;
  }
  Later(faults_.Between(Duration(0), kCommitMax), &SimulatedController::Durable);
}

void SimulatedController::Durable() {
  Group group = *std::exchange(writing_, std::nullopt);
  Keep(group);
  if (faults_.DiesAt(DeathPoint::kAfterCommit)) {
    Die();
    return;
  }
  for (const auto& leave : group.after) {
    leave();
    if (faults_.DiesAt(DeathPoint::kBetweenEffects)) {
      Die();
      return;
    }
  }
  WriteSoon();
  MaybePlan();
}

void SimulatedController::Keep(Group& group) {
  if (group.entries.empty()) {
    return;
  }
  for (JournalEntry& entry : group.entries) {
    journal_.push_back(std::move(entry));
  }
  cycles_.insert(cycles_.end(), group.cycles.begin(), group.cycles.end());
  commits_.push_back(Commit{journal_.back().version, group.fingerprint});
}

void SimulatedController::MaybePlan() {
  if (!plan_wanted_ || planning_) {
    return;
  }
  plan_wanted_ = false;
  if (!state_.needs_cycle()) {
    last_plan_ = nullptr;
    return;
  }
  planning_ = true;
  // The cycle looks at the snapshot of now; its plan comes back later, stale or not.
  const auto snapshot = snapshots_.Build(state_, clock_.now(), last_plan_.get(), policy_->network);
  auto plan = std::make_shared<const Plan>(core::MakePlan(snapshot, *policy_, planner_memory_));
  const CycleRecord cycle{plan->version, snapshot->now, plan->hash, last_plan_ != nullptr, policy_};
  clock_.After(faults_.Between(Duration(0), kPlanMax), [this, plan, cycle, life = life_] {
    if (alive_ && life == life_) {
      last_plan_ = plan;
      group_.cycles.push_back(cycle);
      OnPlan(*plan);
    }
  });
}

void SimulatedController::OnPlan(const Plan& plan) {
  planning_ = false;
  if (plan.wake != kNoTime) {
    clock_.After(plan.wake - clock_.now(), [this, life = life_] {
      if (alive_ && life == life_) {
        plan_wanted_ = true;
        MaybePlan();
      }
    });
  }
  if (HasWork(plan, clock_.now())) {
    Take(TakePlan{plan}, nullptr);
  }
  MaybePlan();
}

void SimulatedController::CheckReplay() {
  core::Replay replay;
  auto commit = commits_.begin();
  std::span<const CycleRecord> cycles(cycles_);
  for (const JournalEntry& entry : journal_) {
    if (entry.version != replay.version().Next()) {
      oracle_.Broken(absl::StrCat("promise 6: the journal has version ", ToString(entry.version),
                                  " in place ", ToString(replay.version().Next())));
      return;
    }
    const std::optional<core::ReplayDifference> difference = DifferenceAt(entry, cycles, replay);
    if (difference.has_value()) {
      oracle_.Broken(absl::StrCat("promise 6: at version ", ToString(difference->version), " ",
                                  difference->text));
      return;
    }
    if (commit == commits_.end() || entry.version != commit->version) {
      continue;
    }
    if (commit->fingerprint.has_value() && core::HashOf(replay.state()) != *commit->fingerprint) {
      oracle_.Broken(
          absl::StrCat("promise 6: replay differs at version ", ToString(entry.version)));
      return;
    }
    ++commit;
  }
  if (!cycles.empty() || replay.starts_unchecked() > 0) {
    oracle_.Broken("promise 6: a cycle, or a start's, is not on record where it was made");
  }
  if (alive_ && group_.entries.empty() && !writing_.has_value() &&
      core::HashOf(replay.state()) != core::HashOf(state_)) {
    oracle_.Broken("promise 6: replay of the whole journal gives another state");
  }
}

}  // namespace muster::sim
