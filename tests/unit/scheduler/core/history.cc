#include "tests/unit/scheduler/core/history.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/verify.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/state/invariants.h"
#include "scheduler/core/state/job_group.h"
#include "scheduler/core/state/tables/attempt.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core::testing {
namespace {

const User& Ada() {
  static const User ada{1000, 1000, "ada"};
  return ada;
}

RunEnded End(EndCause cause, Time now, ExitStatus status = ExitStatus()) {
  RunEnded end;
  end.time = now;
  end.cause = cause;
  end.status = status;
  return end;
}

void Append(SimAttempt& attempt, Fact fact) {
  if (attempt.ended) {
    return;
  }
  attempt.ended = std::holds_alternative<RunEnded>(fact);
  attempt.journal.push_back(std::move(fact));
}

}  // namespace

History::History(std::uint64_t seed) : random_(seed), now_(At(1'000'000)) {
  config_.priority.weight_fairshare = Chance(50) ? 1000 : 0;
  config_.priority.weight_age = Chance(30) ? 500 : 0;
  config_.priority.order = Chance(20)   ? QueueRule::kDrf
                           : Chance(50) ? QueueRule::kPrompt
                                        : QueueRule::kPriority;
  config_.prompt.slack = std::chrono::seconds(Number(0, 4000));
  config_.prompt.promises = Number(0, 20);
  config_.priority.half_life = std::chrono::minutes(Chance(80) ? 10 : 0);
  config_.health.interval = std::chrono::hours(1);
  config_.health.recheck = std::chrono::minutes(1);
  config_.health.samples = 2;
  config_.mig = {{"all", "ALL", {}}};
  Take(BeginEpoch{});
  const std::uint32_t nodes = Number(1, 4);
  if (seed % 3 == 1) {
    PowerClass kind;
    kind.name = "all";
    kind.nodes = "n[1-3]";
    kind.suspend_time = std::chrono::seconds(20);
    kind.boot_time = std::chrono::seconds(30);
    kind.resume_timeout = std::chrono::seconds(60);
    config_.power.push_back(kind);
  }
  if (seed % 2 == 0) {  // some nodes may not be on the map
    config_.network = MakeNetwork(Number(1, 4), Number(1, 2));
  }
  for (std::uint32_t i = 1; i <= nodes; ++i) {
    Shape shape;
    shape.numa = Number(1, 2);
    shape.cores = Number(1, 4);
    shape.threads = Number(1, 2);
    shape.gpus = Number(0, 2);
    SimAgent agent;
    agent.registration = World::RegistrationOf(absl::StrCat("n", i), shape);
    agent.registration.features = {"containers"};
    for (const Gpu& gpu : agent.registration.machine.gpus) {
      agent.registration.machine.mig.push_back(
          {gpu, {{"1g.5gb", 19, 1, 7, kGibibyte, {{0, 1}, {1, 1}}}}});
    }
    agents_.push_back(std::move(agent));
    Register(agents_.back());
  }
}

std::uint32_t History::Number(std::uint32_t low, std::uint32_t high) {
  return low + static_cast<std::uint32_t>(random_() % (std::uint64_t{high} - low + 1));
}

void History::Fail(const std::string& problem) {
  if (problem_.empty()) {
    problem_ = absl::StrCat("after ", events_.size(), " events: ", problem);
  }
}

Transition History::Take(const Command& command) {
  muster::core::Transition transition = Handle(state_, command, now_, config_);
  for (const Event& event : transition.events) {
    state_.Apply(event);
    snapshots_.Note(event, state_.version());
    events_.push_back(event);
    if (const std::optional<std::string> broken = BrokenInvariant(state_)) {
      Fail(*broken);
    }
  }
  if (!transition.status.ok() && !(transition.events.empty() && transition.effects.empty())) {
    Fail(absl::StrCat("refused, yet it has an effect: ", transition.status.ToString()));
  }
  if (const std::optional<std::string> broken = BrokenGroup(state_)) {
    Fail(*broken);
  }
  Perform(transition.effects);
  CheckTruth();
  return transition;
}

void History::Perform(const std::vector<Effect>& effects) {
  for (const Effect& effect : effects) {
    std::visit([this](const auto& order) { Perform(order); }, effect);
  }
}

SimAgent* History::AgentOf(NodeId node) {
  const auto found = std::find_if(agents_.begin(), agents_.end(),
                                  [node](const SimAgent& agent) { return agent.id == node; });
  return found == agents_.end() ? nullptr : &*found;
}

SimAgent* History::Reach(NodeId node) {
  SimAgent* agent = AgentOf(node);
  if (agent == nullptr || !agent->linked) {
    return nullptr;
  }
  if (!settling_ && Chance(5)) {
    agent->linked = false;
    return nullptr;
  }
  return agent;
}

void History::Perform(const Launch& order) {
  SimAgent* agent = Reach(order.node);
  if (agent == nullptr) {
    return;
  }
  const Job* job = state_.FindJob(order.job);
  if (job == nullptr || !job->attempt.has_value() || job->attempt->number != order.attempt) {
    Fail(absl::StrCat("job ", ToString(order.job), " is launched and has no such attempt"));
    return;
  }
  const auto [attempt, fresh] = agent->attempts.try_emplace({order.job, order.attempt});
  if (!fresh) {
    return;
  }
  attempt->second.allocation = job->attempt->allocation.nodes[*RunOn(*job->attempt, order.node)];
  if (Chance(3)) {
    Append(attempt->second, End(EndCause::kLaunchFailed, now_));
    return;
  }
  if (!settling_ && Chance(2)) {
    RunEnded ended = End(EndCause::kPrologFailed, now_);
    ended.node_fault = "prolog /p: exit code 1";
    Append(attempt->second, ended);
    return;
  }
  RunStarted started;
  started.time = now_;
  started.image = job->spec->container.given() ? "sha256:01" : "";
  Append(attempt->second, started);
}

void History::Perform(const LaunchStep& order) {
  SimAgent* agent = Reach(order.node);
  if (agent == nullptr) {
    return;
  }
  const auto found = agent->attempts.find({order.job, order.attempt});
  if (found != agent->attempts.end()) {
    const auto& journal = found->second.journal;
    const bool known = std::any_of(journal.begin(), journal.end(), [&](const Fact& fact) {
      const auto* end = std::get_if<StepEnded>(&fact);
      return end != nullptr && end->step == order.step;
    });
    if (!known) {
      StepEnded ended;
      ended.step = order.step;
      ended.time = now_;
      Append(found->second, ended);
    }
  }
}

void History::Perform(const Terminate& order) {
  SimAgent* agent = Reach(order.node);
  if (agent == nullptr) {
    return;
  }
  const auto [attempt, fresh] = agent->attempts.try_emplace({order.job, order.attempt});
  if (attempt->second.foreign) {
    Fail(absl::StrCat("job ", ToString(order.job), ": a quarantined attempt is told to end"));
  }
  Append(attempt->second,
         fresh ? End(EndCause::kNeverStarted, now_) : End(order.cause, now_, ExitStatus{0, 15}));
}

void History::Perform(const Acknowledge& order) {
  SimAgent* agent = Reach(order.node);
  if (agent == nullptr) {
    return;
  }
  const auto found = agent->attempts.find({order.job, order.attempt});
  if (found == agent->attempts.end()) {
    return;
  }
  SimAttempt& attempt = found->second;
  attempt.acknowledged = std::max(attempt.acknowledged, order.index);
  if (attempt.ended && attempt.acknowledged >= attempt.journal.size()) {
    agent->attempts.erase(found);
  }
}

template <class Order>
void History::Freeze(const Order& order, bool resume) {
  SimAgent* agent = Reach(order.node);
  if (agent == nullptr) {
    return;
  }
  const auto found = agent->attempts.find({order.job, order.attempt});
  if (found == agent->attempts.end() || found->second.ended ||
      order.suspension <= found->second.suspension) {
    return;
  }
  found->second.suspension = order.suspension;
  found->second.frozen = !resume;
  Append(found->second, RunSuspended{now_, order.suspension, resume});
}

// Judged from the agents alone: no two attempts of a job at once, no thread in two that run.
void History::CheckTruth() {
  std::map<JobId, AttemptNumber> alive;
  for (const SimAgent& agent : agents_) {
    CpuSet busy;
    for (const auto& [key, attempt] : agent.attempts) {
      if (attempt.ended) {
        continue;
      }
      const auto [other, first] = alive.emplace(key.first, key.second);
      if (!first && other->second != key.second) {
        Fail(absl::StrCat("two attempts of job ", ToString(key.first), " run at once"));
      }
      if (!attempt.foreign && !attempt.frozen) {
        if (busy.Meets(attempt.allocation.cpus)) {
          Fail(absl::StrCat("two attempts share threads of ", agent.registration.name));
        }
        busy |= attempt.allocation.cpus;
      }
    }
    const Node* node = state_.FindNode(agent.id);
    if (node != nullptr &&
        (!AllCpus(*node->machine).Includes(node->taken.cpus) ||
         (node->quarantined.empty() && node->taken.memory > node->machine->memory))) {
      Fail(absl::StrCat("more is taken of ", node->name, " than it has"));
    }
  }
}

// Some job that was given out, ended or not; now and then one that never was.
JobId History::AnyJob() {
  return JobId(Number(1, static_cast<std::uint32_t>(state_.next_job().value())));
}

void History::Submit() {
  if (!submitted_.empty() && Chance(15)) {
    const std::uint32_t again = Number(0, static_cast<std::uint32_t>(submitted_.size()) - 1);
    const std::size_t before = events_.size();
    const muster::core::Transition transition = Take(submitted_[again]);
    if (transition.job != answers_[again] || events_.size() != before) {
      Fail("a retry with the same token had another effect");
    }
    return;
  }
  SubmitJob submit{absl::StrCat("t", submitted_.size()), AnySpec(), Program()};
  submit.program = submit.spec.kind == JobKind::kRun ? TrueProgram() : Script();
  if (!submit.spec.array.has_value() && submit.spec.alternatives.empty() && Chance(15)) {
    for (std::uint32_t i = Number(1, 2); i > 0; --i) {
      Component component{submit.spec, TrueProgram()};
      component.spec.request = AnyRequest();
      component.spec.time_limit = std::chrono::minutes(Chance(40) ? Number(1, 90) : 0);
      submit.components.push_back(std::move(component));
    }
  }
  const muster::core::Transition transition = Take(submit);
  if (transition.status.ok()) {
    submitted_.push_back(submit);
    answers_.push_back(transition.job);
  }
}

void History::CancelOrHold() {
  const User by = Chance(10) ? User{1001, 1001, "bob"} : Ada();
  const std::optional<std::uint32_t> element =
      Chance(20) ? std::optional<std::uint32_t>(Number(0, 4)) : std::nullopt;
  if (Chance(40)) {
    Take(CancelJob{AnyJob(), element, by});
  } else if (Chance(30)) {
    Take(RequeueJob{AnyJob(), element, by});
  } else if (Chance(30)) {
    JobUpdate changes;
    if (Chance(60)) {
      changes.time_limit = std::chrono::minutes(Number(1, 120));
    } else {
      changes.nice = static_cast<std::int32_t>(Number(0, 3));
    }
    const bool force = Chance(50);
    Take(UpdateJob{AnyJob(), element, changes, {}, force ? User{0, 0, "root"} : by, force});
  } else {
    Take(HoldJob{AnyJob(), element, Chance(40), by});
  }
}

void History::SuspendOrResume() {
  const User by = Chance(10) ? Ada() : User{0, 0, "root"};
  std::vector<JobId> jobs = {AnyJob()};
  for (const auto& [id, job] : state_.jobs()) {
    if (job.state == JobState::kRunning || job.state == JobState::kSuspended) {
      jobs.push_back(id);
    }
  }
  const JobId job = jobs[Number(0, static_cast<std::uint32_t>(jobs.size()) - 1)];
  Take(SuspendJob{job, std::nullopt, Chance(55), by});
}

void History::StartAStep() {
  for (const auto& [id, job] : state_.jobs()) {
    if (job.state == JobState::kRunning && Chance(30)) {
      StepSpec spec;
      spec.tasks = Number(0, 3);
      spec.overcommit = Chance(20);
      spec.overlap = Chance(20);
      spec.no_gpus = Chance(30);
      if (Chance(20)) {
        spec.gpus_per_task.count = 1;
      }
      if (Chance(20)) {
        spec.memory_per_node = kGibibyte;
      }
      Take(StartStep{absl::StrCat("s", events_.size()), id, spec, TrueProgram(), Ada()});
      if (Chance(20)) {
        const auto& queued = state_.FindJob(id)->attempt->queued_steps;
        const StepId step = queued.empty() ? StepId(Number(0, 4)) : queued.back().id;
        Take(SignalJob{id, std::nullopt, step, 0, SignalScope::kSteps, Ada()});
      }
      return;
    }
  }
}

// What a plan proposes holds on the state that it was made of.
void History::CheckVerifies(const Plan& plan) {
  Verifier verifier(state_, now_);
  for (const PlannedResume& resume : plan.resumes) {
    if (!verifier.AcceptResume(resume)) {
      Fail(absl::StrCat("the return of job ", ToString(resume.job), " does not verify at once"));
    }
  }
  for (std::span<const PlannedStart> left = plan.starts; !left.empty();) {
    const std::span<const PlannedStart> together = left.first(StartsTogether(state_, left));
    if (!verifier.AcceptTogether(together)) {
      Fail(absl::StrCat("the start of job ", ToString(together.front().job),
                        " does not verify at once"));
    }
    left = left.subspan(together.size());
  }
  for (const PlannedPreemption& preemption : plan.preemptions) {
    if (preemption.victims.empty() || !verifier.AcceptPreemption(preemption)) {
      Fail(absl::StrCat("the preemption for job ", ToString(preemption.job),
                        " does not verify at once"));
    }
  }
}

// A cycle on the state as it is, taken now or some transitions later.
void History::LookOrStart() {
  if (plans_.size() < 3 && (plans_.empty() || Chance(50))) {
    plans_.push_back(MakePlanTwice());
    CheckVerifies(plans_.back());
  }
  if (Chance(70)) {
    const Plan plan = plans_.front();
    plans_.pop_front();
    Take(TakePlan{plan});
  }
}

// Something happens to an attempt on the node.
void History::Progress(SimAgent& agent) {
  for (auto& [key, attempt] : agent.attempts) {
    if (attempt.ended || !(settling_ || Chance(40)) || (attempt.frozen && !Chance(10))) {
      continue;
    }
    if (!settling_ && Chance(30)) {
      BindingRead read;
      read.time = now_;
      Append(attempt, read);
      continue;
    }
    const EndCause cause = Chance(85)   ? EndCause::kExited
                           : Chance(50) ? EndCause::kTimeLimit
                                        : EndCause::kLostSupervisor;
    Append(attempt, End(cause, now_, ExitStatus{Chance(80) ? 0 : 3, 0}));
  }
}

// Reports: the next that is not acknowledged, an old one again, or one too early.
void History::Send(SimAgent& agent) {
  if (!agent.linked || agent.attempts.empty()) {
    return;
  }
  auto chosen = agent.attempts.begin();
  std::advance(chosen, Number(0, static_cast<std::uint32_t>(agent.attempts.size()) - 1));
  const SimAttempt& attempt = chosen->second;
  std::uint64_t index = attempt.acknowledged + 1;
  if (!settling_ && Chance(20)) {
    index = Number(1, static_cast<std::uint32_t>(attempt.journal.size()) + 1);
  }
  if (index > attempt.journal.size()) {
    return;
  }
  Take(TakeReport{agent.id, Report{chosen->first.first, chosen->first.second, index,
                                   attempt.journal[index - 1]}});
}

void History::Reboot(SimAgent& agent) {
  Lose(agent);
  agent.registration.boot_id += "+";
  for (auto& [key, attempt] : agent.attempts) {
    Append(attempt, End(EndCause::kNodeRebooted, now_));
  }
  Register(agent);
}

// Some are to go off, others to come up; with neither, time alone changes what was ordered before.
void History::SwitchSomeNodes() {
  SwitchNodes orders;
  for (const auto& [id, node] : state_.nodes()) {
    if (Chance(60)) {
      (state_.power().IsOn(id) ? orders.suspend : orders.resume).push_back(id);
    }
  }
  Take(orders);
}

// A program that switches a node works, or does not; what ran there is gone with its power.
void History::Perform(const SwitchPower& order) {
  SimAgent* const agent = AgentOf(order.node);
  if (agent == nullptr || Chance(20)) {
    return;
  }
  agent->registration.boot_id += "+";
  if (!order.on) {
    for (auto& [key, attempt] : agent->attempts) {
      Append(attempt, End(EndCause::kNodeRebooted, now_));
    }
    Lose(*agent);
  } else if (Chance(70)) {
    Register(*agent);
  }
}

namespace {

std::vector<JobId> WaitingIds(const ClusterState& state) {
  std::vector<JobId> ids;
  for (const auto& [id, job] : state.jobs()) {
    if (job.state == JobState::kPending) {
      ids.push_back(id);
    }
  }
  return ids;
}

}  // namespace

// Work of another lineage of this cluster turns up: of a job yet unknown, or of one that waits.
void History::FindForeign(SimAgent& agent) {
  Lose(agent);
  JobId job(state_.next_job().value() + Number(0, 2));
  if (const std::vector<JobId> waiting = WaitingIds(state_); !waiting.empty() && Chance(50)) {
    job = waiting.front();
  }
  const auto [attempt, fresh] = agent.attempts.try_emplace({job, AttemptNumber(1)});
  if (fresh) {
    attempt->second.foreign = true;
    attempt->second.allocation.node = NodeId(Number(1, 9));
    attempt->second.allocation.cpus.Insert(Number(0, 9));
    attempt->second.allocation.memory = kGibibyte * Number(0, 3);
    RunStarted started;
    started.time = now_;
    Append(attempt->second, started);
  }
  Register(agent);
}

void History::Turn() {
  now_ += std::chrono::seconds(Number(0, 5));
  SettleSomeAlerts();
  NarrowSomeLink();
  SimAgent& agent = AnyAgent();
  if (!config_.power.empty() && Chance(6)) {
    SwitchSomeNodes();
    return;
  }
  const std::uint32_t kind = Number(0, 99);
  if (kind < 18) {
    Submit();
  } else if (kind < 24) {
    CancelOrHold();
  } else if (kind < 26) {
    SuspendOrResume();
  } else if (kind < 29) {
    StartAStep();
  } else if (kind < 30) {
    ChangeSomePolicy();
  } else if (kind < 50) {
    LookOrStart();
  } else if (kind < 62) {
    Progress(agent);
  } else if (kind < 85) {
    Send(agent);
  } else if (kind < 88) {
    Lose(agent);
  } else if (kind < 94) {
    Register(agent);
  } else if (kind < 95) {
    Reboot(agent);
  } else if (kind < 96) {
    LoseRecord(agent);
  } else if (kind < 97) {
    FindForeign(agent);
  } else if (kind < 98) {
    Restart();
  } else if (kind < 99) {
    DrainOrForget(agent);
  } else {
    SeeToHealth(agent);
  }
}

// One round of a cluster in which nothing fails any more.
void History::SettleOnce() {
  now_ += std::chrono::minutes(1);
  plans_.clear();
  const std::set<JobId> suspended = state_.index().suspended();
  for (const JobId job : suspended) {
    Take(SuspendJob{job, std::nullopt, false, User{0, 0, "root"}});
  }
  Take(SwitchNodes());  // orders of before come to their end
  Take(LayOutGpus());
  Take(TakePlan{MakePlanTwice()});
  for (SimAgent& agent : agents_) {
    Take(DrainNode{agent.registration.name, false, ""});  // what its scripts said was seen to
    Progress(agent);
    while (!agent.attempts.empty() && problem_.empty()) {
      const std::size_t before = agent.attempts.size();
      for (std::size_t i = 0; i < 8 * before; ++i) {
        Send(agent);
      }
      if (agent.attempts.size() == before) {
        break;
      }
    }
  }
}

void History::Settle() {
  settling_ = true;
  config_.mig.clear();  // wishes that are open go with the table
  for (SimAgent& agent : agents_) {
    if (!agent.linked) {
      Lose(agent);
    }
    Register(agent);
    Take(DrainNode{agent.registration.name, false, ""});
    Take(TakeGpuOccupants{agent.id, {}});
  }
  ResumeLinks();
  LiftPolicy();
  for (const JobId job : WaitingIds(state_)) {
    Take(HoldJob{job, std::nullopt, false, User{0, 0, "root"}});
  }
  constexpr int kRoundsMax = 1000;
  int idle = 0;
  for (int round = 0; round < kRoundsMax && idle < 3 && problem_.empty(); ++round) {
    const std::size_t before = events_.size();
    SettleOnce();
    idle = events_.size() == before ? idle + 1 : 0;
  }
}

}  // namespace muster::core::testing
