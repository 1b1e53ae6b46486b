#include "scheduler/simulator/crash/drawn_facts.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>

#include "scheduler/simulator/workload/draws.h"

namespace muster::sim {
namespace {

Duration Milliseconds(RandomSequence& random, std::uint64_t most) {
  return Duration(static_cast<Duration::rep>(random.Below(most)));
}

Usage DrawUsage(RandomSequence& random) {
  Usage usage;
  usage.user_cpu = Milliseconds(random, 60'000);
  usage.system_cpu = Milliseconds(random, 5'000);
  usage.peak_memory = kMebibyte * (1 + random.Below(4000));
  if (Chance(random, 500)) {
    usage.gpu_busy = Milliseconds(random, 60'000);
    usage.gpu_energy_mj = random.Below(10'000'000);
    usage.cpu_energy_mj = random.Below(10'000'000);
  }
  if (Chance(random, 500)) {
    usage.read_bytes = kMebibyte * random.Below(4000);
    usage.written_bytes = kMebibyte * random.Below(4000);
  }
  return usage;
}

}  // namespace

void AddToStart(const JobSpec& spec, RandomSequence& random, RunStarted* started) {
  started->limits = Chance(random, 500) ? "enforced" : "not enforced (no cgroups)";
  started->image = spec.container.given() ? "sha256:0" : "";
  if (!spec.node_data.empty()) {
    started->data.made = 1;
    started->data.bytes = random.Below(1'000'000);
    if (Chance(random, 300)) {
      started->data.gone = {"/data/old"};
    }
  }
}

void AddToBinding(RandomSequence& random, BindingRead* read) {
  constexpr BindingVerdict kVerdicts[] = {BindingVerdict::kVerified, BindingVerdict::kVerified,
                                          BindingVerdict::kDiffers, BindingVerdict::kNotEnforced,
                                          BindingVerdict::kUnreadable};
  for (RankBinding& rank : read->ranks) {
    rank.verdict = kVerdicts[random.Below(std::size(kVerdicts))];
    rank.text = rank.verdict == BindingVerdict::kDiffers ? "on other threads" : "";
  }
}

void AddToEnd(const JobSpec& spec, RandomSequence& random, RunEnded* ended) {
  ended->usage = DrawUsage(random);
  if (ended->cause != EndCause::kExited) {
    ended->text = Chance(random, 200) ? "as its node saw it" : "";
    return;
  }
  switch (random.Below(12)) {
    case 0:
      ended->status = {static_cast<std::int32_t>(spec.requeue_exit % 256), 0};
      break;
    case 1:
      ended->cause = EndCause::kOutOfMemory;
      ended->status = {0, 9};
      break;
    case 2:
      if (spec.progress_timeout > Duration(0)) {
        ended->cause = EndCause::kHung;
        ended->status = {0, 9};
      }
      break;
    case 3:
      ended->cause = EndCause::kLostSupervisor;
      ended->text = "killed";
      break;
    case 4:
      ended->status = {0, 11};
      break;
    case 5:
      ended->node_fault = "its epilog failed";
      break;
    default:
      break;
  }
}

void AddToStepEnd(RandomSequence& random, StepEnded* ended) {
  ended->usage = DrawUsage(random);
  RankExit exit;
  exit.status = {Chance(random, 200) ? 1 : 0, 0};
  exit.time = ended->time;
  ended->ranks = {exit};
}

CheckpointRecord NextCheckpoint(const CheckpointRecord& before, AttemptNumber attempt,
                                std::uint32_t notice, Time now, RandomSequence& random) {
  CheckpointRecord next = before;
  const Duration cost = Milliseconds(random, 3'000);
  if (attempt > AttemptNumber(1) && before == CheckpointRecord() && Chance(random, 500)) {
    next.restart = Duration(1) + Milliseconds(random, 2'000);
    return next;
  }
  if (Chance(random, 100)) {
    ++next.failed;
    next.refused = Chance(random, 500) ? "more than the user's quota" : "";
    return next;
  }
  next.failed = 0;
  next.refused = "";
  ++next.count;
  next.committed = now;
  next.begun = std::max(before.committed, now - cost);
  next.cost = cost;
  next.stall += cost / 2;
  next.interval = Chance(random, 700) ? std::chrono::seconds(1 + random.Below(20)) : Duration(0);
  next.bytes = kMebibyte * (1 + random.Below(2000));
  next.notice = std::max(before.notice, notice);
  next.flush = Chance(random, 300) ? Milliseconds(random, 2'000) : Duration(0);
  next.slow = Chance(random, 300) ? cost * 2 : Duration(0);
  next.copy_every = static_cast<std::uint32_t>(random.Below(3));
  return next;
}

HealthReport DrawHealthReport(const HealthOrder& order, RandomSequence& random) {
  HealthReport report;
  report.number = order.number;
  report.took = Milliseconds(random, 10'000);
  if (Chance(random, 150)) {
    report.outcome = Chance(random, 500) ? HealthOutcome::kYielded : HealthOutcome::kBroken;
    report.text = "it was disturbed";
    return report;
  }
  const auto about = [&random](std::uint64_t usual, bool slower_is_less) {
    const std::uint64_t noise = usual / 100 * random.Below(3);
    const bool slow = Chance(random, 200);
    return slower_is_less ? (slow ? usual / 2 : usual) - noise : (slow ? usual * 3 : usual) + noise;
  };
  report.figures = {
      {"memory bandwidth", "GB/s", HealthSense::kHigher, about(200'000, true), 210'000},
      {"pingpong", "us", HealthSense::kLower, about(2'000, false), 0},
      {"memory errors", "", HealthSense::kNever, Chance(random, 80) ? 1'000ULL : 0, 0},
      {"clock", "MHz", HealthSense::kShown, 2'100'000, 0}};
  if (Chance(random, 700)) {
    report.figures.push_back(
        {"GPU 0 copy", "GB/s", HealthSense::kHigher, about(1'000'000, true), 0});
  }
  return report;
}

}  // namespace muster::sim
