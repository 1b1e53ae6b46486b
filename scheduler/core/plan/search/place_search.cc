#include "scheduler/core/plan/search/place_search.h"

#include <utility>

#include "scheduler/core/plan/search/eligibility.h"

namespace muster::core {
namespace {

JobPlace PlaceOf(const std::vector<GroupMember>& members, std::vector<MemberPlace> found) {
  JobPlace place;
  for (std::size_t i = 0; i < members.size(); ++i) {
    place.parts.push_back({members[i].job, found[i].option, std::move(found[i].opening)});
  }
  return place;
}

}  // namespace

std::vector<const WaitingJob*> PlaceSearch::ComponentsOf(const WaitingJob& job) {
  return job.het_size > 0 ? groups_.ComponentsOf(job) : std::vector<const WaitingJob*>{&job};
}

std::optional<JobPlace> PlaceSearch::Again(const std::vector<GroupMember>& members, Time start) {
  JobPlace place;
  for (const GroupMember& member : members) {
    const std::size_t before = place.parts.size();
    for (std::size_t i = 0; i < member.options.size() && place.parts.size() == before; ++i) {
      for (const StartOption* each : {member.options[i], member.options[i]->anywhere}) {
        std::optional<Opening> opening =
            each == nullptr || place.parts.size() > before
                ? std::nullopt
                : FindPromised(snapshot_, availability_, member.job, PlaceNeed(each->need), start);
        if (opening.has_value()) {
          place.parts.push_back({member.job, each, *std::move(opening)});
        }
      }
    }
    if (place.parts.size() == before) {
      return std::nullopt;
    }
  }
  // Parts that lie on the same nodes were looked at one by one.
  return place.parts.size() == 1 || FitsFrom(availability_, place, start)
             ? std::optional(std::move(place))
             : std::nullopt;
}

std::optional<JobPlace> PlaceSearch::Earliest(const WaitingJob& job,
                                              const std::vector<GroupMember>& members,
                                              Time before) {
  if (members.size() == 1) {
    return EarliestOfOne(job, members.front(), before);
  }
  std::optional<std::vector<MemberPlace>> found = groups_.FindEarliest(members);
  if (!found.has_value() || found->front().opening.start >= kHorizon ||
      (before != kNoTime && found->front().opening.start >= before)) {
    return std::nullopt;
  }
  return PlaceOf(members, *std::move(found));
}

std::optional<JobPlace> PlaceSearch::At(const std::vector<GroupMember>& members, Time start) {
  std::optional<std::vector<MemberPlace>> found = groups_.FindFrom(members, start);
  return found.has_value() ? std::optional(PlaceOf(members, *std::move(found))) : std::nullopt;
}

std::optional<JobPlace> PlaceSearch::EarliestOfOne(const WaitingJob& job, const GroupMember& member,
                                                   Time before) {
  std::optional<JobPlace> best;
  const auto look = [&](const StartOption& option, Time from) {
    const Need need = PlaceNeed(option.need);
    std::optional<Opening> opening = before == kNoTime
                                         ? availability_.FindEarliest(need, from)
                                         : availability_.FindEarlier(need, from, before);
    if (opening.has_value() && !opening->shares.empty() && opening->start < kHorizon &&
        (!best.has_value() || opening->start < best->start())) {
      best.emplace();
      best->parts.push_back({member.job, &option, *std::move(opening)});
    }
  };
  for (const StartOption* option : member.options) {
    look(*option, snapshot_.now);
    if (option->anywhere != nullptr) {
      look(*option->anywhere, SwitchesUntil(job, option->request));
    }
  }
  return best;
}

}  // namespace muster::core
