#include "scheduler/simulator/crash/agent_runs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "scheduler/model/settings/elastic_policy.h"
#include "scheduler/model/value/start_code.h"
#include "scheduler/simulator/crash/drawn_facts.h"
#include "scheduler/simulator/crash/lies.h"

namespace muster::sim {
namespace {

constexpr Duration kRunMin{50};
constexpr Duration kRunMax{40'000};
constexpr Duration kSaveMin{2'000};
constexpr Duration kLookAgain{1'000};    // whether what should happen is still frozen
constexpr std::uint32_t kFailing = 150;  // thousandths of scripts that exit with an error
constexpr Duration kLeaseLook{1'000};

}  // namespace

AgentRuns::AgentRuns(const AgentContext& world, std::size_t index, std::string name)
    : world_(world), name_(std::move(name)), random_(world.seed + index) {}

void AgentRuns::Freeze(const Key& key) {
  LocalAttempt& attempt = attempts_.at(key);
  if (attempt.frozen == kNoTime) {
    attempt.frozen = world_.clock.now();
    world_.oracle.Frozen(name_, key.first, key.second);
  }
  Write(attempt, RunSuspended{world_.clock.now(), attempt.suspension, false}, key);
}

void AgentRuns::Thaw(const Key& key) {
  LocalAttempt& attempt = attempts_.at(key);
  if (attempt.frozen != kNoTime) {
    attempt.slept = SleptBy(attempt);
    attempt.frozen = kNoTime;
    world_.oracle.Thawed(name_, key.first, key.second);
  }
  Write(attempt, RunSuspended{world_.clock.now(), attempt.suspension, true}, key);
}

Duration AgentRuns::SleptBy(const LocalAttempt& attempt) const {
  return attempt.slept +
         (attempt.frozen == kNoTime ? Duration(0) : world_.clock.now() - attempt.frozen);
}

void AgentRuns::Later(Duration delay, const Key& key, void (AgentRuns::*action)(const Key&)) {
  const LocalAttempt& attempt = attempts_.at(key);
  world_.clock.After(delay, [this, key, action, serial = attempt.serial, slept = SleptBy(attempt)] {
    Fire(key, serial, slept, action);
  });
}

void AgentRuns::Fire(const Key& key, std::uint64_t serial, Duration slept,
                     void (AgentRuns::*action)(const Key&)) {
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

void AgentRuns::Run(const Key& key) {
  if (world_.faults.Fault(world_.faults.rates().launch_fails)) {
    const std::uint64_t how = world_.whole ? random_.Below(3) : 0;
    Finish(key, how == 2 ? EndCause::kPrologFailed : EndCause::kLaunchFailed,
           how == 1 ? ExitStatus{kTryAgainCode, 0} : ExitStatus());
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
  if (world_.whole) {
    AddToStart(attempt.spec, random_, &started);
  }
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
  if (world_.whole) {
    AddToBinding(random_, &read);
  }
  Write(attempt, read, key);
  if (world_.whole && random_.Below(3) == 0) {
    Later(kSaveMin, key, &AgentRuns::Save);
  }
  if (attempt.kind == JobKind::kRun || attempt.leads) {
    Later(world_.faults.Between(kRunMin, kRunMax), key, &AgentRuns::ExitItself);
  }
  attempt.began = now;
  KeepLimit(key);
}

void AgentRuns::ExitItself(const Key& key) {
  Finish(key, EndCause::kExited, ExitStatus{world_.faults.Chance(kFailing) ? 1 : 0, 0});
}

void AgentRuns::Save(const Key& key) {
  LocalAttempt& attempt = attempts_.at(key);
  if (attempt.phase != Phase::kRunning) {
    return;
  }
  attempt.checkpoints =
      NextCheckpoint(attempt.checkpoints, key.second, attempt.advised, world_.clock.now(), random_);
  Write(attempt, RunCheckpointed{world_.clock.now(), attempt.checkpoints}, key);
  if (random_.Below(3) > 0) {
    Later(kSaveMin + Duration(static_cast<Duration::rep>(random_.Below(10'000))), key,
          &AgentRuns::Save);
  }
}

// Ends it when its limit, as it stands now, is over; else looks again when it would be.
void AgentRuns::KeepLimit(const Key& key) {
  const LocalAttempt& attempt = attempts_.at(key);
  if (attempt.time_limit == Duration(0)) {
    return;
  }
  const Duration left = attempt.began + SleptBy(attempt) + attempt.time_limit - world_.clock.now();
  if (left <= Duration(0) && attempt.frozen == kNoTime) {
    if (world_.whole && random_.Below(3) == 0) {  // its programs were told in time
      LocalAttempt& saved = attempts_.at(key);
      saved.checkpoints = NextCheckpoint(saved.checkpoints, key.second, saved.advised + 1,
                                         world_.clock.now(), random_);
      Write(saved, RunCheckpointed{world_.clock.now(), saved.checkpoints}, key);
    }
    Finish(key, EndCause::kTimeLimit, ExitStatus{0, kTermSignal});
    return;
  }
  Later(std::max(left, Duration(1)), key, &AgentRuns::KeepLimit);
}

void AgentRuns::WatchLease(const Key& key, std::uint64_t serial) {
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

void AgentRuns::StepEnds(const Key& key, StepId step) {
  const auto known = attempts_.find(key);
  if (known != attempts_.end() && known->second.phase == Phase::kRunning &&
      known->second.frozen != kNoTime) {
    world_.clock.After(kLookAgain, [this, key, step] { StepEnds(key, step); });
    return;
  }
  EndStep(key, step);
}

void AgentRuns::EndStep(const Key& key, StepId step) {
  const auto known = attempts_.find(key);
  if (known == attempts_.end() || known->second.phase == Phase::kEnded ||
      known->second.steps.erase(step) == 0) {
    return;
  }
  StepEnded ended;
  ended.step = step;
  ended.time = world_.clock.now();
  if (world_.whole) {
    AddToStepEnd(random_, &ended);
  }
  Write(known->second, ended, key);
}

void AgentRuns::Finish(const Key& key, EndCause cause, ExitStatus status) {
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
  if (world_.whole) {
    AddToEnd(attempt.spec, random_, &ended);
  }
  Write(attempt, ended, key);
}

void AgentRuns::Write(LocalAttempt& attempt, Fact fact, const Key& key) {
  attempt.journal.push_back(std::move(fact));
  Pump(key, attempt);
  if (const std::optional<Report> lie = DrawFalseReport(world_.faults, world_.clock.now());
      lie.has_value() && session_ != 0 && node_.valid()) {
    world_.network.SendUp(session_, *lie);
  }
}

void AgentRuns::Pump(const Key& key, LocalAttempt& attempt) {
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

}  // namespace muster::sim
