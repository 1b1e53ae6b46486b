#include "scheduler/core/plan/cycle/het_job_starter.h"

#include <algorithm>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/core/plan/search/group_reasons.h"
#include "scheduler/core/policy/policy_filter.h"

namespace muster::core {
namespace {

// What a member without a reason of its own waits for: `first` has one, or else all together do.
Reason WaitsForGroup(const std::vector<const WaitingJob*>& group, std::optional<std::size_t> first,
                     ReasonClass verdict) {
  return first.has_value() ? WaitsFor(group[*first]->id, *first, verdict)
                           : WaitsFor(JobId(), group.size(), verdict);
}

// Until its own time, where it has one, else until the group starts.
Reason WithTime(Reason reason, Time start) {
  const bool has_time =
      reason.kind == ReasonKind::kReservation || reason.kind == ReasonKind::kSwitches;
  reason.until = has_time ? reason.until : start;
  return reason;
}

}  // namespace

HetJobStarter::HetJobStarter(CycleState& cycle, WaitReasons& reasons, JobStarter& starter,
                             BackfillReservations& reservations, KeptPlaces& places)
    : cycle_(cycle),
      reasons_(reasons),
      starter_(starter),
      reservations_(reservations),
      places_(places),
      search_(cycle.snapshot, cycle.availability, cycle.nodes) {}

void HetJobStarter::LookAt(const WaitingJob& leader) {
  const Group group = search_.ComponentsOf(leader);
  if (LeaveBlocked(group)) {
    return;
  }
  std::vector<GroupMember> members;
  for (const WaitingJob* job : group) {
    members.push_back(GroupMember{job->id, OptionsOf(cycle_, *job, {})});
    MUSTER_CHECK(!members.back().options.empty());
  }
  std::optional<Reason> limit;
  if (TryStart(group, members, limit)) {
    return;
  }
  if (!limit.has_value()) {
    return LeaveWaiting(group, members);
  }
  for (const WaitingJob* job : group) {
    cycle_.plan.Leave(*job, *limit);
  }
}

bool HetJobStarter::LeaveBlocked(const Group& group) {
  std::vector<std::vector<Reason>> blockers(group.size());
  CycleCounts counts = cycle_.counts;
  CycleUsage usage = cycle_.usage;
  bool blocked = false;
  for (std::size_t i = 0; i < group.size(); ++i) {
    AddJobBlockers(cycle_.snapshot, *group[i], counts, blockers[i]);
    if (cycle_.snapshot.policy != nullptr) {
      AddPolicyBlockers(cycle_.snapshot, *group[i], usage, blockers[i]);
    }
    blocked = blocked || !blockers[i].empty();
    counts.licenses.Take(group[i]->id, *group[i]->spec);
  }
  WakeAt(counts.wake, cycle_.counts);
  if (!blocked) {
    return false;
  }
  BlockedGroup left = WaitBlocked(group, std::move(blockers));
  for (PlannedDrop& drop : left.drops) {
    cycle_.plan.Drop(std::move(drop));
  }
  for (LeftWaiting& waiting : left.waiting) {
    cycle_.plan.LeaveComponent(std::move(waiting));
  }
  return true;
}

bool HetJobStarter::TryStart(const Group& group, const std::vector<GroupMember>& members,
                             std::optional<Reason>& limit) {
  const bool may_try =
      std::all_of(members.begin(), members.end(), [this](const GroupMember& member) {
        return std::any_of(member.options.begin(), member.options.end(),
                           [this](const auto* option) { return reasons_.MayTry(*option); });
      });
  std::optional<std::vector<MemberPlace>> places;
  if (may_try) {
    places = search_.FindNow(members);
  }
  if (!places.has_value()) {
    places = places_.FindBesideOwn(*group.front(), members);
  }
  return places.has_value() && Start(group, *places, limit);
}

bool HetJobStarter::Start(const Group& group, std::vector<MemberPlace>& places,
                          std::optional<Reason>& limit) {
  if (cycle_.snapshot.policy != nullptr) {
    CycleUsage usage = cycle_.usage;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (!starter_.CountInLimits(*group[i], *places[i].option, places[i].allocation, usage,
                                  limit)) {
        return false;
      }
    }
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (cycle_.snapshot.policy != nullptr) {
      starter_.CountInLimits(*group[i], *places[i].option, places[i].allocation, cycle_.usage,
                             limit);
    }
    starter_.Start(*group[i], *places[i].option, places[i].opening,
                   std::move(places[i].allocation));
  }
  return true;
}

void HetJobStarter::LeaveWaiting(const Group& group, const std::vector<GroupMember>& members) {
  std::vector<std::optional<Reason>> own(group.size());
  std::optional<std::size_t> first;
  ReasonClass verdict = ReasonClass::kNotNow;
  for (std::size_t i = 0; i < group.size(); ++i) {
    own[i] = reasons_.verdicts().WhyNever(members[i].options);
    if (own[i].has_value() && verdict == ReasonClass::kNotNow) {
      first = i;
      verdict = ReasonClass::kNever;
    }
  }
  if (verdict == ReasonClass::kNotNow && !search_.EverFit(members)) {
    verdict = ReasonClass::kNever;
  }
  Time start = kNoTime;
  if (verdict == ReasonClass::kNotNow) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      own[i] = reasons_.WhyNotAlone(*group[i], members[i].options);
      first = !first.has_value() && own[i].has_value() ? std::optional(i) : first;
    }
    start = Keep(group, members);
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    Reason reason = own[i].has_value() ? *own[i] : WaitsForGroup(group, first, verdict);
    cycle_.plan.Leave(*group[i], WithTime(std::move(reason), start));
  }
  if (verdict == ReasonClass::kNotNow) {
    BlockLater(*group.front(), members);
  }
}

void HetJobStarter::BlockLater(const WaitingJob& leader, const std::vector<GroupMember>& members) {
  reasons_.blockers().BeginJob();
  for (const GroupMember& member : members) {
    for (const StartOption* option : member.options) {
      if (!reasons_.verdicts().NeverFits(*option) &&
          reasons_.verdicts().WhyReserved(*option) == nullptr) {
        reasons_.blockers().Block(option->partition, leader.id);
      }
    }
  }
}

Time HetJobStarter::Keep(const Group& group, const std::vector<GroupMember>& members) {
  if (places_.on()) {
    return places_.Keep(*group.front(), members, reasons_.blockers());
  }
  if (!reservations_.any_left()) {
    return kNoTime;
  }
  const std::optional<std::vector<MemberPlace>> places = search_.FindEarliest(members);
  return places.has_value() ? reservations_.KeepTogether(group, *places) : kNoTime;
}

}  // namespace muster::core
