// The part of a pass that looks at heterogeneous jobs, whose components start together.
#include <algorithm>
#include <set>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/core/plan/pass.h"
#include "scheduler/core/plan/search/group_reasons.h"
#include "scheduler/core/policy/policy_filter.h"

namespace muster {

void Pass::LookAtGroup(const WaitingJob& leader) {
  const std::vector<const WaitingJob*> group = groups_.ComponentsOf(leader);
  std::vector<GroupMember> members;
  std::vector<std::vector<Reason>> blockers(group.size());
  PassCounts counts = counts_;
  PassUsage usage = usage_;
  bool blocked = false;
  for (std::size_t i = 0; i < group.size(); ++i) {
    AddJobBlockers(snapshot_, *group[i], counts, blockers[i]);
    if (snapshot_.policy != nullptr) {
      AddPolicyBlockers(snapshot_, *group[i], usage, blockers[i]);
    }
    blocked = blocked || !blockers[i].empty();
    counts.licenses.Take(group[i]->id, *group[i]->spec);
  }
  WakeAt(counts.wake, counts_);
  if (blocked) {
    const std::size_t left = plan_.waiting.size();
    LeaveBlockedGroup(group, std::move(blockers), plan_);
    for (std::size_t i = left; i < plan_.waiting.size(); ++i) {
      plan_.waiting[i].priority = priority_;
    }
    return;
  }
  bool may_try = true;
  for (const WaitingJob* job : group) {
    members.push_back(GroupMember{job->id, OptionsOf(*job, {})});
    const Options& options = members.back().options;
    MUSTER_CHECK(!options.empty());
    may_try = may_try && std::any_of(options.begin(), options.end(),
                                     [this](const auto* option) { return MayTry(*option); });
  }
  if (may_try) {
    std::optional<std::vector<MemberPlace>> places = groups_.FindNow(members);
    std::optional<Reason> limit;
    if (places.has_value() && StartGroup(group, *places, limit)) {
      return;
    }
    if (limit.has_value()) {
      return LeaveTogether(group, *limit);
    }
  }
  LeaveWaitingGroup(group, members);
}

void Pass::LeaveTogether(const std::vector<const WaitingJob*>& group, const Reason& reason) {
  for (const WaitingJob* job : group) {
    Leave(*job, reason);
  }
}

bool Pass::StartGroup(const std::vector<const WaitingJob*>& group, std::vector<MemberPlace>& places,
                      std::optional<Reason>& limit) {
  if (snapshot_.policy != nullptr) {
    PassUsage usage = usage_;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (!CountInLimits(*group[i], *places[i].option, places[i].allocation, usage, limit)) {
        return false;
      }
    }
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (snapshot_.policy != nullptr) {
      CountInLimits(*group[i], *places[i].option, places[i].allocation, limit);
    }
    Start(*group[i], *places[i].option, places[i].opening, std::move(places[i].allocation));
  }
  return true;
}

void Pass::LeaveWaitingGroup(const std::vector<const WaitingJob*>& group,
                             const std::vector<GroupMember>& members) {
  std::vector<std::optional<Reason>> own(group.size());
  std::optional<std::size_t> first;
  ReasonClass verdict = ReasonClass::kNotNow;
  for (std::size_t i = 0; i < group.size(); ++i) {
    own[i] = WhyBeyond(members[i].options);
    if (own[i].has_value() && verdict == ReasonClass::kNotNow) {
      first = i;
      verdict = ReasonClass::kNever;
    }
  }
  if (verdict == ReasonClass::kNotNow && !groups_.EverFit(members)) {
    verdict = ReasonClass::kNever;
  }
  Time start = kNoTime;
  if (verdict == ReasonClass::kNotNow) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      own[i] = WhyNotAlone(*group[i], members[i].options);
      first = !first.has_value() && own[i].has_value() ? std::optional(i) : first;
    }
    start = KeepForGroup(group, members);
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    Reason reason = own[i].has_value()  ? *own[i]
                    : first.has_value() ? WaitsFor(group[*first]->id, *first, verdict)
                                        : WaitsFor(JobId(), group.size(), verdict);
    const bool has_time =
        reason.kind == ReasonKind::kReservation || reason.kind == ReasonKind::kSwitches;
    reason.until = has_time ? reason.until : start;
    Leave(*group[i], std::move(reason));
  }
  if (verdict == ReasonClass::kNotNow) {
    BlockBehind(*group.front(), members);
  }
}

void Pass::BlockBehind(const WaitingJob& leader, const std::vector<GroupMember>& members) {
  std::set<std::string> partitions;
  for (const GroupMember& member : members) {
    for (const StartOption* option : member.options) {
      if (!IsBeyond(*option) && WhyReserved(*option) == nullptr) {
        partitions.insert(option->partition);
      }
    }
  }
  for (const std::string& partition : partitions) {
    BlockIn(partition, leader.id);
  }
}

std::optional<Reason> Pass::WhyBeyond(const Options& options) {
  for (const StartOption* option : options) {
    if (!IsBeyond(*option)) {
      return std::nullopt;
    }
  }
  return VerdictOn(*options.front()).beyond;
}

std::optional<Reason> Pass::WhyNotAlone(const WaitingJob& job, const Options& options) {
  for (const StartOption* option : options) {
    if (!IsBeyond(*option) && MayTry(*option) && availability_.FindNow(option->need).has_value()) {
      return std::nullopt;
    }
  }
  for (const StartOption* option : options) {
    if (!IsBeyond(*option)) {
      return WhyBlocked(job, *option);
    }
  }
  return std::nullopt;
}

Time Pass::KeepForGroup(const std::vector<const WaitingJob*>& group,
                        const std::vector<GroupMember>& members) {
  if (reservations_left_ == 0) {
    return kNoTime;
  }
  const std::optional<std::vector<MemberPlace>> places = groups_.FindEarliest(members);
  if (!places.has_value()) {
    return kNoTime;
  }
  --reservations_left_;
  ++kept_;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const MemberPlace& place = (*places)[i];
    availability_.Take(LaterNeed(place.option->need), place.opening);
    if (place.opening.start < kHorizon) {
      AddReservation(group[i]->id, place.opening);
    }
  }
  const Time start = places->front().opening.start;
  return start < kHorizon ? start : kNoTime;
}

}  // namespace muster
