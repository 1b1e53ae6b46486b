#include "scheduler/core/plan/cycle/scheduling_cycle.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/core/plan/queue/waiting_jobs.h"
#include "scheduler/core/plan/search/nodes_at_once.h"
#include "scheduler/core/policy/policy_filter.h"
#include "scheduler/core/state/tables/alternatives.h"

namespace muster::core {

SchedulingCycle::SchedulingCycle(const Snapshot& snapshot, const SchedulerConfig& config,
                                 StartOptions& options, Availability& availability)
    : state_(snapshot, config, options, availability),
      reasons_(state_),
      starter_(state_, reasons_.verdicts()),
      reservations_(state_),
      places_(state_, starter_),
      elastic_(state_, starter_, reservations_),
      groups_(state_, reasons_, starter_, reservations_, places_) {}

Plan SchedulingCycle::Run(const QueuePriority& priority) {
  const Snapshot& snapshot = state_.snapshot;
  std::vector<std::uint32_t> totals;
  const std::vector<QueueEntry> order = priority.Order(&totals);
  Resumption resumption(snapshot, order, state_.options, state_.preemption);
  LeaveOff();
  elastic_.KeepRoomToGrow();
  for (std::size_t place = 0; place < order.size(); ++place) {
    LookAtSuspended(resumption.TakeDue(place));
    BeginTier(priority, order, place);
    if (!totals.empty()) {
      state_.plan.SetPriority(totals[order[place].entry]);
    }
    LookAtAll(snapshot.waiting[order[place].entry], order[place]);
  }
  LookAtSuspended(resumption.TakeDue(order.size()));
  places_.Finish();
  elastic_.JudgeSizes();
  if (totals.empty()) {  // an entry at most
    for (const WaitingJob& entry : snapshot.waiting) {
      if (state_.plan.IsLeft(entry)) {
        state_.plan.SetPriorityOf(entry, priority.TotalOf(entry));
      }
    }
  }
  if (state_.plan.any_waiting()) {
    WakeAt(NextReservationChange(snapshot), state_.counts);
  }
  return state_.plan.Finish(state_.counts.wake);
}

void SchedulingCycle::LeaveOff() {
  for (const std::uint32_t node : BeyondLimits(state_.snapshot.nodes, state_.power)) {
    state_.availability.LeaveOff(node);
  }
}

void SchedulingCycle::BeginTier(const QueuePriority& priority, const std::vector<QueueEntry>& order,
                                std::size_t place) {
  const auto job_at = [&](std::size_t i) -> const WaitingJob& {
    return state_.snapshot.waiting[order[i].entry];
  };
  const std::uint64_t tier = places_.on() ? priority.TierOf(job_at(place)) : 0;
  if (!places_.on() || (place > 0 && priority.TierOf(job_at(place - 1)) == tier)) {
    return;
  }
  std::vector<const WaitingJob*> entries;
  for (std::size_t i = place; i < order.size() && priority.TierOf(job_at(i)) == tier; ++i) {
    entries.push_back(&job_at(i));
  }
  places_.BeginTier(priority, entries);
}

void SchedulingCycle::LookAtAll(const WaitingJob& entry, const QueueEntry& queued) {
  if (entry.het_size > 0) {  // the others come with their leader
    return entry.id == entry.submission ? groups_.LookAt(entry) : void();
  }
  if (entry.count == 1) {
    return LookAt(entry);
  }
  std::uint32_t idle = 0;
  for (std::uint32_t i = queued.first; i < queued.first + queued.count; ++i) {
    const std::size_t before = Changes();
    LookAt(ElementsOf(entry, i));
    idle = Changes() == before ? idle + 1 : 0;
    if (idle >= 2) {
      i += LeaveAlike(entry, i + 1, queued.first + queued.count);
    }
  }
}

std::size_t SchedulingCycle::Changes() const {
  return state_.plan.changes() + reservations_.kept() + places_.made();
}

std::uint32_t SchedulingCycle::LeaveAlike(const WaitingJob& entry, std::uint32_t first,
                                          std::uint32_t last) {
  const JobId begin(entry.id.value() + first);
  const JobId end = reservations_.FirstPromised(begin, JobId(entry.id.value() + last));
  const auto count = static_cast<std::uint32_t>(end.value() - begin.value());
  state_.plan.LeaveAlike(count);
  reasons_.blockers().AddAlike(count);
  places_.LeaveAlike(entry, first, count);
  return count;
}

void SchedulingCycle::LookAt(const WaitingJob& job) {
  reasons_.blockers().BeginJob();
  std::vector<Reason> blockers;
  AddJobBlockers(state_.snapshot, job, state_.counts, blockers);
  const std::vector<bool> usable = AddPolicyBlockersOfAll(job, blockers);
  if (std::optional<PlannedDrop> drop = DropOf(job, blockers)) {
    state_.plan.Drop(*std::move(drop));
  }
  if (!blockers.empty()) {
    Reason first = std::move(blockers.front());
    blockers.erase(blockers.begin());
    return state_.plan.Leave(job, std::move(first), std::move(blockers));
  }
  const OptionList options = OptionsOf(state_, job, usable);
  MUSTER_CHECK(!options.empty());
  std::optional<Reason> limit;
  for (const StartOption* option : options) {
    if (reasons_.MayTry(*option) && starter_.TryStart(job, *option, limit)) {
      return;
    }
  }
  if (places_.StartBesideOwn(job, options, limit)) {
    return;
  }
  if (limit.has_value()) {
    return state_.plan.Leave(job, *std::move(limit));
  }
  LeaveBlocked(job, options);
}

void SchedulingCycle::LookAtSuspended(const std::vector<const RunningJob*>& jobs) {
  for (const RunningJob* job : jobs) {
    if (state_.preemption.GivesWay(job->id)) {
      continue;  // it has just been told to end
    }
    const std::vector<OwnCores> parts = OwnCoresOf(state_.snapshot, *job);
    std::vector<const NodeSnapshot*> now;
    now.reserve(parts.size());
    for (const OwnCores& part : parts) {
      now.push_back(&state_.nodes.At(part.node));
    }
    std::optional<Reason> why = WhyNotBack(parts, now, state_.plan.starts());
    for (const OwnCores& part : parts) {
      KeepCores(part, !why.has_value());
    }
    if (why.has_value()) {
      state_.plan.LeaveSuspended(job->id, *std::move(why));
    } else {
      state_.plan.Resume(PlannedResume{job->id, job->attempt});
    }
  }
}

void SchedulingCycle::KeepCores(const OwnCores& part, bool from_now) {
  const Time now = state_.snapshot.now;
  const Holding& holding = *part.holding;
  NodeSnapshot& node_snapshot = state_.nodes.Change(part.node);
  const std::uint32_t width = state_.availability.inventory().capacity(part.node).threads_per_core;
  const std::uint32_t all = holding.given_back.Count() / width;
  const std::uint32_t free = all - (holding.given_back & node_snapshot.taken.cpus).Count() / width;
  const Time end = EndOf(holding, now);
  const bool later = !from_now && holding.back > now && holding.back < end;
  state_.availability.TakeCores(part.node, free, now, later ? holding.back : end);
  if (later) {
    state_.availability.TakeCores(part.node, all, holding.back, end);
  }
  node_snapshot.taken.cpus |= holding.given_back;
}

std::vector<bool> SchedulingCycle::AddPolicyBlockersOfAll(const WaitingJob& job,
                                                          std::vector<Reason>& blockers) {
  std::vector<bool> usable(AlternativesOf(*job.spec), true);
  if (state_.snapshot.policy == nullptr) {
    return usable;
  }
  std::vector<Reason> first;
  AddPolicyBlockers(state_.snapshot, job, state_.usage, first);
  usable[0] = first.empty();
  bool any = usable[0];
  for (std::uint32_t i = 1; i < usable.size(); ++i) {
    WaitingJob other = job;
    other.spec = std::make_shared<const JobSpec>(AsChosen(*job.spec, i, 0));
    std::vector<Reason> reasons;
    AddPolicyBlockers(state_.snapshot, other, state_.usage, reasons);
    usable[i] = reasons.empty();
    any = any || usable[i];
  }
  if (!any) {
    std::move(first.begin(), first.end(), std::back_inserter(blockers));
  }
  return usable;
}

void SchedulingCycle::LeaveBlocked(const WaitingJob& job, const OptionList& options) {
  ShapeVerdicts& verdicts = reasons_.verdicts();
  OptionList able;
  for (const StartOption* option : options) {
    if (!verdicts.NeverFits(*option)) {
      able.push_back(option);
    }
  }
  if (able.empty()) {
    return state_.plan.Leave(job, verdicts.WhyNever(*options.front()));
  }
  // Before what is kept for the job itself is in its way.
  std::optional<Reason> switches = reasons_.WhySwitches(job, *able.front());
  const Time start = PlanAhead(job, able);
  Reason reason = switches.has_value() && verdicts.WhyReserved(*able.front()) == nullptr
                      ? *std::move(switches)
                      : reasons_.WhyBlocked(job, *able.front());
  const bool has_time =
      reason.kind == ReasonKind::kReservation || reason.kind == ReasonKind::kSwitches;
  reason.until = has_time ? reason.until : start;
  for (const StartOption* option : able) {
    if (verdicts.WhyReserved(*option) == nullptr) {
      reasons_.blockers().Block(option->partition, job.id);
    }
  }
  state_.plan.Leave(job, std::move(reason));
}

Time SchedulingCycle::PlanAhead(const WaitingJob& job, const OptionList& options) {
  const bool may_shrink = elastic_.MayShrink();
  if (!state_.preemption.possible() && !may_shrink) {
    return Keep(job, options, nullptr);
  }
  const Prospect prospect = reservations_.Earliest(job, options);
  if (!places_.StartsWithin(job.id, kSoon) &&
      (prospect.option == nullptr || prospect.opening.start > state_.snapshot.now + kSoon)) {
    for (const StartOption* option : options) {
      const std::optional<Eviction> eviction = state_.preemption.Find(job, *option);
      if (eviction.has_value() &&
          state_.availability.PlainQueryOf(option->need).LieAsAsked(eviction->opening.shares)) {
        state_.plan.Preempt(state_.preemption.PlanOf(job.id, *eviction));
        return reservations_.TakeOver(job.id, *option, *eviction);
      }
    }
    if (may_shrink) {
      if (const std::optional<Time> start = elastic_.ShrinkFor(job, options, prospect)) {
        return *start;
      }
    }
  }
  return Keep(job, options, &prospect);
}

Time SchedulingCycle::Keep(const WaitingJob& job, const OptionList& options,
                           const Prospect* prospect) {
  if (places_.on()) {
    return places_.Keep(job, {GroupMember{job.id, options}}, reasons_.blockers());
  }
  if (!reservations_.any_left()) {
    return kNoTime;
  }
  return reservations_.Keep(job,
                            prospect == nullptr ? reservations_.Earliest(job, options) : *prospect);
}

}  // namespace muster::core
