#include "scheduler/simulator/crash/agents.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "scheduler/model/settings/elastic_policy.h"
#include "scheduler/simulator/crash/lies.h"

namespace muster::sim {
namespace {

constexpr Duration kRetryMin{200};
constexpr Duration kRetryMax{5'000};
constexpr Duration kAgentAwayMin{500};
constexpr Duration kAgentAwayMax{60'000};
constexpr Duration kRunMin{50};
constexpr Duration kRunMax{40'000};
constexpr Duration kStepMax{3'000};
constexpr Duration kFreezeMax{200};      // how long it takes to freeze what runs
constexpr Duration kLookAgain{1'000};    // whether what should happen is still frozen
constexpr std::uint32_t kFailing = 150;  // thousandths of scripts that exit with an error
constexpr std::int32_t kTermSignal = 15;
constexpr std::int32_t kKillSignal = 9;
constexpr Duration kLeaseLook{1'000};
constexpr std::uint64_t kPowerTakes = 3;  // one record of three, and a part of another one's
constexpr Duration kMendMin{10'000};      // how long a lost GPU stays away
constexpr Duration kMendMax{120'000};

void LoseLastGpu(Machine* machine) {
  const auto last = static_cast<std::uint32_t>(machine->gpus.size() - 1);
  machine->gpus.pop_back();
  std::erase_if(machine->gpu_links,
                [last](const DeviceLink& link) { return link.a == last || link.b == last; });
}

CpuSet GpusOf(const NodeAllocation& part) {
  CpuSet gpus;
  for (const GpuGrant& grant : part.gpus) {
    gpus.Insert(grant.gpu);
  }
  return gpus;
}

}  // namespace

SimulatedAgent::SimulatedAgent(const AgentContext& world, std::size_t index, std::string name,
                               Machine machine)
    : world_(world), index_(index), name_(std::move(name)), machine_(std::move(machine)) {}

void SimulatedAgent::Start() {
  Connect();
}

void SimulatedAgent::Connect() {
  if (!alive_ || session_ != 0) {
    return;
  }
  session_ = world_.network.Connect(index_);
  if (session_ == 0) {
    Detach();
    return;
  }
  Registration registration;
  registration.name = name_;
  registration.hostname = name_;
  registration.instance = absl::StrCat(name_, "/", node_is_.instance);
  registration.boot_id = absl::StrCat(name_, "/", node_is_.boot);
  registration.epoch_seen = epoch_;
  registration.machine = machine_;
  if (node_is_.gpu_lost) {
    LoseLastGpu(&registration.machine);
  }
  for (const auto& [key, attempt] : attempts_) {
    registration.attempts.push_back(KnownAttempt{key.first, key.second,
                                                 attempt.phase == Phase::kEnded, attempt.part,
                                                 attempt.frozen != kNoTime});
  }
  if (const std::optional<KnownAttempt> phantom = DrawPhantom(world_.faults)) {
    registration.attempts.push_back(*phantom);
    // The controller keeps what it does not know until its end is told.
    world_.clock.After(world_.faults.Between(kRetryMin, kAgentAwayMax),
                       [this, session = session_, key = *phantom] {
                         if (session == session_) {
                           RunEnded ended;
                           ended.time = world_.clock.now();
                           world_.network.SendUp(session, Report{key.job, key.attempt, 1, ended});
                         }
                       });
  }
  world_.network.SendUp(session_, std::move(registration));
}

// Without a stream; tries again later.
void SimulatedAgent::Detach() {
  session_ = 0;
  node_ = NodeId();
  world_.clock.After(world_.faults.Between(kRetryMin, kRetryMax), [this, life = life_] {
    if (life == life_) {
      Connect();
    }
  });
}

void SimulatedAgent::NoticeLoss(Session session) {
  if (alive_ && session == session_) {
    Detach();
  }
}

void SimulatedAgent::EndAllProcesses(bool power_lost) {
  for (auto known = attempts_.begin(); known != attempts_.end();) {
    auto& [key, attempt] = *known;
    if (attempt.phase == Phase::kRunning) {
      world_.oracle.Ended(name_, key.first, key.second, world_.clock.now());
    }
    const std::uint64_t drawn = power_lost ? world_.faults.Below(kPowerTakes) : kPowerTakes;
    if (drawn == 0) {
      known = attempts_.erase(known);
      continue;
    }
    if (drawn == 1 && !attempt.journal.empty()) {
      attempt.journal.resize(world_.faults.Below(attempt.journal.size()));
      attempt.acknowledged = std::min<std::uint64_t>(attempt.acknowledged, attempt.journal.size());
      attempt.phase = Phase::kOrdered;
    }
    if (attempt.phase == Phase::kRunning && world_.defect == LifeDefect::kRebootUnsaid) {
      attempt.phase = Phase::kEnded;
    } else if (attempt.phase != Phase::kEnded) {
      RunEnded ended;
      ended.time = world_.clock.now();
      ended.cause = EndCause::kNodeRebooted;
      attempt.phase = Phase::kEnded;
      attempt.journal.emplace_back(ended);
    }
    ++known;
  }
}

void SimulatedAgent::Die(AgentDeath how) {
  if (!alive_) {
    return;
  }
  ++world_.faults.counts().agents_died;
  alive_ = false;
  ++life_;
  world_.network.Cut(session_);
  session_ = 0;
  node_ = NodeId();
  finished_.clear();
  const bool power_lost = how == AgentDeath::kPowerLost;
  world_.faults.counts().power_lost += power_lost ? 1 : 0;
  if (how != AgentDeath::kProcess) {
    EndAllProcesses(power_lost);
  }
  const bool gpu_lost = how == AgentDeath::kGpuLost && !machine_.gpus.empty() && !node_is_.gpu_lost;
  if (gpu_lost) {
    ++world_.faults.counts().gpus_lost;
    node_is_.gpu_lost = true;
    world_.clock.After(world_.faults.Between(kMendMin, kMendMax), [this] {
      node_is_.gpu_lost = false;
      Die(AgentDeath::kReboot);
    });
  }
  if (how == AgentDeath::kReboot || how == AgentDeath::kGpuLost || power_lost) {
    ++world_.faults.counts().reboots;
    ++node_is_.boot;
  }
  if (how == AgentDeath::kRecordLost) {
    ++world_.faults.counts().records_lost;
    attempts_.clear();
    epoch_ = Epoch();
    ++node_is_.instance;
    node_is_.boot += world_.faults.Below(2);
  }
  world_.clock.After(world_.faults.Between(kAgentAwayMin, kAgentAwayMax), [this] {
    alive_ = true;
    Connect();
  });
}

void SimulatedAgent::Receive(Session session, const ToAgent& message) {
  if (alive_ && session == session_) {
    std::visit([this](const auto& held) { On(held); }, message);
  }
}

void SimulatedAgent::On(const Welcome& welcome) {
  if (welcome.epoch < epoch_) {
    world_.oracle.Broken(absl::StrCat(name_, " was welcomed by an older controller"));
    return;
  }
  const bool restored = WasRestored(epoch_, welcome.epoch);
  epoch_ = welcome.epoch;
  node_ = welcome.node;
  if (restored) {
    finished_.clear();
  }
  for (auto& [key, attempt] : attempts_) {
    if (restored) {
      attempt.acknowledged = 0;
      attempt.forgotten = true;
    }
    if (world_.defect != LifeDefect::kReportedOnce) {
      attempt.sent = attempt.acknowledged;
    }
    Pump(key, attempt);
  }
}

void SimulatedAgent::On(const Refusal&) {
  world_.network.Cut(session_);
  Detach();
}

bool SimulatedAgent::Admits(NodeId node, Epoch epoch, Time expiry) {
  if (!node_.valid() || node != node_ || epoch < epoch_ ||
      (expiry != kNoTime && expiry < world_.clock.now())) {
    return false;
  }
  epoch_ = epoch;
  return true;
}

void SimulatedAgent::On(const LaunchOrder& order) {
  const Key key{order.job, order.attempt};
  if (!Admits(order.node, order.epoch, order.expiry) || finished_.contains(key)) {
    return;
  }
  if (const auto known = attempts_.find(key);
      known != attempts_.end() && world_.defect != LifeDefect::kLaunchedAgain) {
    if (world_.defect != LifeDefect::kReportedOnce) {
      known->second.sent = known->second.acknowledged;
    }
    Pump(key, known->second);
    return;
  }
  const auto part = std::find_if(order.allocation.nodes.begin(), order.allocation.nodes.end(),
                                 [this](const NodeAllocation& own) { return own.node == node_; });
  if (part == order.allocation.nodes.end()) {
    world_.oracle.Broken(absl::StrCat(name_, " got a launch order that gives it no resources"));
    return;
  }
  if (node_is_.gpu_lost &&
      GpusOf(*part).Contains(static_cast<std::uint32_t>(machine_.gpus.size() - 1))) {
    world_.oracle.Broken(absl::StrCat(name_, " was given a GPU that it has lost"));
    return;
  }
  LocalAttempt& attempt = attempts_[key];
  attempt.serial = ++serial_;
  attempt.part = *part;
  attempt.kind = order.spec.kind;
  attempt.leads = part == order.allocation.nodes.begin();
  attempt.time_limit =
      world_.defect == LifeDefect::kLimitEarly ? order.spec.time_limit / 2 : order.spec.time_limit;
  attempt.elastic = order.spec.elastic;
  if (attempt.elastic) {
    heard_ = world_.clock.now();
    WatchLease(key, attempt.serial);
  }
  Later(world_.faults.LaunchDelay(), key, &SimulatedAgent::Run);
}

void SimulatedAgent::On(const StepOrder& order) {
  const Key key{order.job, order.attempt};
  const auto known = attempts_.find(key);
  if (!Admits(order.node, order.epoch, order.expiry) || known == attempts_.end() ||
      known->second.phase == Phase::kEnded ||
      !known->second.known_steps.insert(order.step).second) {
    return;
  }
  // Simulated steps share nothing: what another step of the job has is free once its end was told.
  CpuSet cpus;
  for (const NodeAllocation& part : order.placement.nodes) {
    if (part.node == node_) {
      cpus |= part.cpus;
    }
  }
  for (const auto& [other, taken] : known->second.steps) {
    if (cpus.Meets(taken) && !known->second.forgotten) {
      world_.oracle.Broken(absl::StrCat(name_, " was given step ", ToString(order.step), " of job ",
                                        ToString(order.job), " on threads of step ",
                                        ToString(other)));
    }
  }
  known->second.steps.emplace(order.step, std::move(cpus));
  world_.clock.After(world_.faults.Between(Duration(1), kStepMax),
                     [this, key, step = order.step] { StepEnds(key, step); });
}

void SimulatedAgent::On(const TerminateOrder& order) {
  const Key key{order.job, order.attempt};
  if (!Admits(order.node, order.epoch, kNoTime) || finished_.contains(key)) {
    return;
  }
  const auto known = attempts_.find(key);
  if (known == attempts_.end()) {
    // Remembered as ended, so that a launch order that comes late finds it there.
    LocalAttempt& attempt = attempts_[key];
    attempt.serial = ++serial_;
    Finish(key, EndCause::kNeverStarted, ExitStatus());
    return;
  }
  if (world_.defect == LifeDefect::kEndUnheard && known->second.phase == Phase::kOrdered) {
    return;
  }
  const std::uint64_t serial = known->second.serial;
  const Duration grace = std::max(order.grace, Duration(1));
  world_.clock.After(world_.faults.Between(Duration(1), grace),
                     [this, key, serial, cause = order.cause] {
                       const auto found = attempts_.find(key);
                       if (found != attempts_.end() && found->second.serial == serial) {
                         const bool began = found->second.phase == Phase::kRunning;
                         Finish(key, began ? cause : EndCause::kNeverStarted,
                                began ? ExitStatus{0, kTermSignal} : ExitStatus());
                       }
                     });
}

void SimulatedAgent::On(const Acknowledge& ack) {
  const Key key{ack.job, ack.attempt};
  const auto known = attempts_.find(key);
  if (known == attempts_.end()) {
    return;
  }
  LocalAttempt& attempt = known->second;
  if (ack.index > node_is_.told[key]) {
    world_.oracle.Broken(
        absl::StrCat(name_, " got an acknowledgement of a report that it never sent"));
    return;
  }
  // A loss of power may have taken the record of some that are acknowledged now.
  attempt.acknowledged =
      std::max(attempt.acknowledged, std::min<std::uint64_t>(ack.index, attempt.journal.size()));
  if (attempt.phase == Phase::kEnded && attempt.acknowledged == attempt.journal.size()) {
    attempts_.erase(known);
    finished_.insert(key);
  }
}

void SimulatedAgent::On(const SuspendOrder& order) {
  const Key key{order.job, order.attempt};
  const auto known = attempts_.find(key);
  if (!Admits(order.node, order.epoch, kNoTime) || known == attempts_.end() ||
      known->second.phase != Phase::kRunning || order.suspension <= known->second.suspension) {
    return;
  }
  known->second.suspension = order.suspension;
  if (order.resume) {
    Thaw(key);
    return;
  }
  world_.clock.After(world_.faults.Between(Duration(1), kFreezeMax),
                     [this, key, suspension = order.suspension, serial = known->second.serial] {
                       const auto found = attempts_.find(key);
                       if (found != attempts_.end() && found->second.serial == serial &&
                           found->second.phase == Phase::kRunning &&
                           found->second.suspension == suspension) {
                         Freeze(key);
                       }
                     });
}

// Of it a simulated agent takes the time limit only.
void SimulatedAgent::On(const AdviceOrder& order) {
  const Key key{order.job, order.attempt};
  const auto known = attempts_.find(key);
  if (!Admits(order.node, order.epoch, kNoTime) || known == attempts_.end() ||
      known->second.phase == Phase::kEnded || order.advice.number <= known->second.advised) {
    return;
  }
  LocalAttempt& attempt = known->second;
  attempt.advised = order.advice.number;
  if (order.advice.time_limit > Duration(0)) {
    attempt.time_limit =
        order.advice.time_limit == Duration::max() ? Duration(0) : order.advice.time_limit;
    if (attempt.phase == Phase::kRunning) {
      KeepLimit(key);
    }
  }
}

void SimulatedAgent::Freeze(const Key& key) {
  LocalAttempt& attempt = attempts_.at(key);
  if (attempt.frozen == kNoTime) {
    attempt.frozen = world_.clock.now();
    world_.oracle.Frozen(name_, key.first, key.second);
  }
  Write(attempt, RunSuspended{world_.clock.now(), attempt.suspension, false}, key);
}

void SimulatedAgent::Thaw(const Key& key) {
  LocalAttempt& attempt = attempts_.at(key);
  if (attempt.frozen != kNoTime) {
    attempt.slept = SleptBy(attempt);
    attempt.frozen = kNoTime;
    world_.oracle.Thawed(name_, key.first, key.second);
  }
  Write(attempt, RunSuspended{world_.clock.now(), attempt.suspension, true}, key);
}

Duration SimulatedAgent::SleptBy(const LocalAttempt& attempt) const {
  return attempt.slept +
         (attempt.frozen == kNoTime ? Duration(0) : world_.clock.now() - attempt.frozen);
}

void SimulatedAgent::Later(Duration delay, const Key& key,
                           void (SimulatedAgent::*action)(const Key&)) {
  const LocalAttempt& attempt = attempts_.at(key);
  world_.clock.After(delay, [this, key, action, serial = attempt.serial, slept = SleptBy(attempt)] {
    Fire(key, serial, slept, action);
  });
}

void SimulatedAgent::Fire(const Key& key, std::uint64_t serial, Duration slept,
                          void (SimulatedAgent::*action)(const Key&)) {
  const auto found = attempts_.find(key);
  if (found == attempts_.end() || found->second.serial != serial ||
      found->second.phase == Phase::kEnded) {
    return;
  }
  const Duration missed = SleptBy(found->second) - slept;
  const bool frozen = found->second.frozen != kNoTime;
  if (missed > Duration(0) || frozen) {
    world_.clock.After(
        frozen ? std::max(missed, kLookAgain) : missed,
        [this, key, serial, slept = slept + missed, action] { Fire(key, serial, slept, action); });
    return;
  }
  (this->*action)(key);
}

void SimulatedAgent::Run(const Key& key) {
  if (world_.faults.Fault(world_.faults.rates().launch_fails)) {
    Finish(key, EndCause::kLaunchFailed, ExitStatus());
    return;
  }
  LocalAttempt& attempt = attempts_.at(key);
  attempt.phase = Phase::kRunning;
  const Time now = world_.clock.now();
  world_.oracle.Began(
      Execution{name_,
                key.first,
                key.second,
                attempt.part.cpus,
                now,
                {},
                GpusOf(attempt.part),
                attempt.part.gpus.empty() ? kWholeGpu : attempt.part.gpus.front().share});
  RunStarted started;
  started.time = now;
  Write(attempt, started, key);
  BindingRead read;
  read.time = now;
  for (const RankPlacement& rank : attempt.part.ranks) {
    RankBinding binding;
    binding.rank = rank.rank;
    binding.cpus = rank.cpus;
    binding.verdict = BindingVerdict::kVerified;
    read.ranks.push_back(binding);
  }
  Write(attempt, read, key);
  if (attempt.kind == JobKind::kRun || attempt.leads) {
    Later(world_.faults.Between(kRunMin, kRunMax), key, &SimulatedAgent::ExitItself);
  }
  attempt.began = now;
  KeepLimit(key);
}

void SimulatedAgent::ExitItself(const Key& key) {
  Finish(key, EndCause::kExited, ExitStatus{world_.faults.Chance(kFailing) ? 1 : 0, 0});
}

// Ends it when its limit, as it stands now, is over; else looks again when it would be.
void SimulatedAgent::KeepLimit(const Key& key) {
  const LocalAttempt& attempt = attempts_.at(key);
  if (attempt.time_limit == Duration(0)) {
    return;
  }
  const Duration left = attempt.began + SleptBy(attempt) + attempt.time_limit - world_.clock.now();
  if (left <= Duration(0) && attempt.frozen == kNoTime) {
    Finish(key, EndCause::kTimeLimit, ExitStatus{0, kTermSignal});
    return;
  }
  Later(std::max(left, Duration(1)), key, &SimulatedAgent::KeepLimit);
}

void SimulatedAgent::WatchLease(const Key& key, std::uint64_t serial) {
  const auto found = attempts_.find(key);
  if (found == attempts_.end() || found->second.serial != serial ||
      found->second.phase == Phase::kEnded) {
    return;
  }
  if (node_.valid() && world_.network.IsOpen(session_)) {
    heard_ = world_.clock.now();
  } else if (world_.clock.now() - heard_ >= kElasticLease &&
             world_.defect != LifeDefect::kLeaseUnfenced) {
    Finish(key, EndCause::kNodeLostRecord, ExitStatus{0, kKillSignal});
    return;
  }
  world_.clock.After(kLeaseLook, [this, key, serial] { WatchLease(key, serial); });
}

void SimulatedAgent::StepEnds(const Key& key, StepId step) {
  const auto known = attempts_.find(key);
  if (known != attempts_.end() && known->second.phase == Phase::kRunning &&
      known->second.frozen != kNoTime) {
    world_.clock.After(kLookAgain, [this, key, step] { StepEnds(key, step); });
    return;
  }
  EndStep(key, step);
}

void SimulatedAgent::EndStep(const Key& key, StepId step) {
  const auto known = attempts_.find(key);
  if (known == attempts_.end() || known->second.phase == Phase::kEnded ||
      known->second.steps.erase(step) == 0) {
    return;
  }
  StepEnded ended;
  ended.step = step;
  ended.time = world_.clock.now();
  Write(known->second, ended, key);
}

void SimulatedAgent::Finish(const Key& key, EndCause cause, ExitStatus status) {
  LocalAttempt& attempt = attempts_.at(key);
  if (attempt.phase == Phase::kEnded) {
    return;
  }
  if (attempt.phase == Phase::kRunning) {
    world_.oracle.Ended(name_, key.first, key.second, world_.clock.now());
  }
  while (!attempt.steps.empty()) {
    EndStep(key, attempt.steps.begin()->first);
  }
  attempt.phase = Phase::kEnded;
  RunEnded ended;
  ended.time = world_.clock.now();
  ended.cause = cause;
  ended.status = status;
  Write(attempt, ended, key);
}

void SimulatedAgent::Write(LocalAttempt& attempt, Fact fact, const Key& key) {
  attempt.journal.push_back(std::move(fact));
  Pump(key, attempt);
  if (const std::optional<Report> lie = DrawFalseReport(world_.faults, world_.clock.now());
      lie.has_value() && session_ != 0 && node_.valid()) {
    world_.network.SendUp(session_, *lie);
  }
}

void SimulatedAgent::Pump(const Key& key, LocalAttempt& attempt) {
  if (!alive_ || !node_.valid()) {
    return;
  }
  while (attempt.sent < attempt.journal.size()) {
    const Fact& fact = attempt.journal[attempt.sent];
    world_.network.SendUp(session_, Report{key.first, key.second, ++attempt.sent, fact});
    std::uint64_t& told = node_is_.told[key];
    told = std::max(told, attempt.sent);
  }
}

std::string SimulatedAgent::Describe() const {
  std::string text = absl::StrCat(name_, alive_ ? "" : " dead", node_.valid() ? "" : " detached");
  for (const auto& [key, attempt] : attempts_) {
    absl::StrAppend(&text, " ", ToString(key.first), ".", ToString(key.second), "(phase ",
                    static_cast<int>(attempt.phase), ", ", attempt.acknowledged, "/",
                    attempt.journal.size(), ")");
  }
  return text;
}

}  // namespace muster::sim
