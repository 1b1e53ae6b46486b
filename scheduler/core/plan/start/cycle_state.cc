#include "scheduler/core/plan/start/cycle_state.h"

namespace muster::core {
namespace {

const PolicySnapshot& PolicyOf(const Snapshot& snapshot) {
  static const PolicySnapshot kNone;
  return snapshot.policy == nullptr ? kNone : *snapshot.policy;
}

}  // namespace

CycleState::CycleState(const Snapshot& of, const SchedulerConfig& scheduler_config,
                       StartOptions& start_options, Availability& room)
    : snapshot(of),
      config(scheduler_config),
      power(scheduler_config.power),
      options(start_options),
      availability(room),
      counts(of, scheduler_config),
      usage(PolicyOf(of)),
      nodes(of),
      preemption(of, room, nodes),
      plan(of) {}

OptionList OptionsOf(CycleState& cycle, const WaitingJob& job, const std::vector<bool>& usable) {
  OptionList options;
  for (const StartOption* option : cycle.options.Of(job.spec)) {
    if (!usable.empty() && !usable[option->alternative]) {
      continue;
    }
    if (option->anywhere != nullptr) {
      const Time until = SwitchesUntil(job, option->request);
      if (until <= cycle.snapshot.now) {
        option = option->anywhere;
      } else {
        WakeAt(until, cycle.counts);
      }
    }
    options.push_back(option);
  }
  return options;
}

}  // namespace muster::core
