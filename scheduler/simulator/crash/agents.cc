#include "scheduler/simulator/crash/agents.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "scheduler/core/mig/divided_node.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/simulator/crash/drawn_facts.h"
#include "scheduler/simulator/crash/lies.h"
#include "scheduler/simulator/workload/rare_wishes.h"

namespace muster::sim {
namespace {

constexpr Duration kRetryMin{200};
constexpr Duration kRetryMax{5'000};
constexpr Duration kAgentAwayMin{500};
constexpr Duration kAgentAwayMax{60'000};
constexpr Duration kStepMax{3'000};
constexpr Duration kFreezeMax{200};       // how long it takes to freeze what runs
constexpr std::uint64_t kPowerTakes = 3;  // one record of three, and a part of another one's
constexpr Duration kMendMin{10'000};      // how long a lost GPU stays away
constexpr Duration kMendMax{120'000};
constexpr Duration kOffMax{1'500};
constexpr Duration kBootMin{1'000};
constexpr Duration kBootMax{40'000};
constexpr std::uint32_t kBootFails = 100;      // thousandths
constexpr std::uint32_t kDivisionFails = 150;  // thousandths
constexpr Duration kCheckMax{8'000};
constexpr Duration kDivideMax{4'000};

void LoseLastGpu(Machine* machine) {
  const auto last = static_cast<std::uint32_t>(machine->gpus.size() - 1);
  machine->gpus.pop_back();
  std::erase_if(machine->gpu_links,
                [last](const DeviceLink& link) { return link.a == last || link.b == last; });
  std::erase_if(machine->nic_links, [last](const DeviceLink& link) { return link.a == last; });
}

}  // namespace

SimulatedAgent::SimulatedAgent(const AgentContext& world, std::size_t index, std::string name,
                               Machine machine)
    : AgentRuns(world, index, std::move(name)), index_(index), machine_(std::move(machine)) {
  if (world_.whole) {
    features_ = DrawFeatures(random_);
  }
}

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
  registration.features = features_;
  registration.weight = static_cast<std::uint32_t>(features_.size());
  registration.layout = node_is_.layout;
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
    alive_ = !node_is_.off;
    Connect();
  });
}

void SimulatedAgent::SwitchPower(bool on) {
  const std::uint64_t switched = ++node_is_.switched;
  const Duration takes =
      on ? world_.faults.Between(kBootMin, kBootMax) : world_.faults.Between(Duration(1), kOffMax);
  const bool fails = on && world_.faults.Fault(kBootFails);
  world_.clock.After(takes, [this, on, fails, switched] {
    if (switched != node_is_.switched || fails || on == !node_is_.off) {
      return;
    }
    node_is_.off = !on;
    if (on) {
      ++node_is_.boot;
      alive_ = true;
      Connect();
      return;
    }
    for (const auto& [key, attempt] : attempts_) {
      if (attempt.phase != Phase::kEnded) {
        world_.oracle.Broken(
            absl::StrCat(name_, " was switched off while job ", ToString(key.first), " was there"));
      }
    }
    Die(AgentDeath::kReboot);
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
  attempt.leads = part == order.allocation.nodes.begin() && IsLeader(order);
  attempt.time_limit =
      world_.defect == LifeDefect::kLimitEarly ? order.spec.time_limit / 2 : order.spec.time_limit;
  attempt.elastic = order.spec.elastic;
  attempt.spec = order.spec;
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
  if (world_.whole && order.advice.notice != CheckpointNotice::kNone &&
      attempt.phase == Phase::kRunning && random_.Below(3) > 0) {
    Later(Duration(1'000), key, &SimulatedAgent::Save);
  }
}

// A reboot is ordered again until the controller has seen another boot.
void SimulatedAgent::On(const HealthOrder& order) {
  if (!Admits(order.node, order.epoch, kNoTime)) {
    return;
  }
  world_.clock.After(world_.faults.Between(Duration(100), kCheckMax),
                     [this, order, session = session_, boot = node_is_.boot] {
                       if (order.kind == HealthKind::kReboot && boot == node_is_.boot) {
                         Die(AgentDeath::kReboot);
                       } else if (alive_ && session == session_) {
                         world_.network.SendUp(session_, DrawHealthReport(order, random_));
                       }
                     });
}

void SimulatedAgent::On(const LayoutOrder& order) {
  if (Admits(order.node, order.epoch, kNoTime)) {
    world_.clock.After(world_.faults.Between(Duration(100), kDivideMax),
                       [this, order, life = life_] {
                         if (alive_ && life == life_) {
                           Divide(order);
                         }
                       });
  }
}

bool SimulatedAgent::UsesPartOf(const std::string& gpu) const {
  const std::vector<std::uint32_t> positions = core::PositionsOf(machine_, gpu);
  return std::any_of(attempts_.begin(), attempts_.end(), [&positions](const auto& known) {
    const CpuSet used = GpusOf(known.second.part);
    return known.second.phase != Phase::kEnded &&
           std::any_of(positions.begin(), positions.end(),
                       [&used](std::uint32_t position) { return used.Contains(position); });
  });
}

void SimulatedAgent::Divide(const LayoutOrder& order) {
  if (order.number > node_is_.layout.number) {
    const MigGpu* const gpu = core::FindMig(machine_, order.gpu);
    std::string text;
    if (gpu == nullptr || node_is_.gpu_lost) {
      text = "it is not there";
    } else if (UsesPartOf(order.gpu)) {
      text = "it is in use";
    } else if (world_.faults.Fault(kDivisionFails)) {
      text = "the driver refuses";
    } else {
      NodeSnapshot node;
      node.machine = std::make_shared<const Machine>(machine_);
      node.taken.gpus.resize(machine_.gpus.size());
      for (const auto& [key, attempt] : attempts_) {
        for (const GpuGrant& grant : attempt.part.gpus) {
          node.taken.gpus[grant.gpu] = kWholeGpu;
        }
      }
      machine_ = *core::Divided(std::move(node), *gpu, order.instances).machine;
      for (Gpu& part : machine_.gpus) {
        part.by_name = false;  // that is its controller's word
      }
    }
    node_is_.layout = LayoutReport{order.number, text};
  }
  world_.network.Cut(session_);
  Detach();
}

void SimulatedAgent::On(const SignalOrder& order) {
  const Key key{order.job, order.attempt};
  const auto known = attempts_.find(key);
  if (!Admits(order.node, order.epoch, kNoTime) || known == attempts_.end() ||
      known->second.phase != Phase::kRunning) {
    return;
  }
  if (order.step.has_value()) {
    EndStep(key, *order.step);
  } else if (order.signal == kKillSignal && order.scope == SignalScope::kFull) {
    Finish(key, EndCause::kExited, ExitStatus{0, kKillSignal});
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
