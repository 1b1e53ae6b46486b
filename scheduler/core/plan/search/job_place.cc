#include "scheduler/core/plan/search/job_place.h"

#include <algorithm>
#include <array>
#include <utility>

namespace muster::core {
namespace {

constexpr Duration kMargin = std::chrono::seconds(60);

}  // namespace

void JobPlace::MoveTo(Time start) {
  for (PlacePart& part : parts) {
    part.opening.start = start;
  }
}

Time JobPlace::NeededUntilFrom(Time start) const {
  Time until = start;
  for (const PlacePart& part : parts) {
    until = std::max(until, NeededUntil(start, part.option->need.duration));
  }
  return until;
}

Need PlaceNeed(const Need& need) {
  constexpr std::uint64_t kOther = 0xc2b2ae3d27d4eb4fU;  // shapes are fingerprints
  Need place = LaterNeed(need);
  if (place.duration.count() > 0) {
    place.duration += kMargin;
    place.shape ^= kOther;
  }
  return place;
}

Need NeedInsteadOfPlace(const Need& need, Time now) {
  constexpr std::uint64_t kOther = 0x165667b19e3779f9U;  // shapes are fingerprints
  Need start = need;
  if (start.duration.count() <= 0) {
    start.duration = kHorizon - now;
    start.shape ^= kOther;
  }
  return start;
}

void NoteNodes(const Availability& availability, const JobPlace& place, NodesBefore& before) {
  for (const PlacePart& part : place.parts) {
    for (const NodeShare& share : part.opening.shares) {
      before.try_emplace(share.node, availability.timeline(share.node));
    }
  }
}

void TakePlace(Availability& availability, const JobPlace& place) {
  for (const PlacePart& part : place.parts) {
    availability.Take(PlaceNeed(part.option->need), part.opening);
  }
}

bool LendPlaceIf(Availability& availability, const JobPlace& place,
                 const std::function<bool()>& asked) {
  NodesBefore nodes;
  NoteNodes(availability, place, nodes);
  for (const PlacePart& part : place.parts) {
    availability.Lend(PlaceNeed(part.option->need), part.opening);
  }
  const bool answer = asked();
  if (answer) {  // restored as they are: what is known of them is forgotten
    nodes.clear();
    NoteNodes(availability, place, nodes);
  }
  availability.Restore(std::move(nodes));
  return answer;
}

bool FitsFrom(Availability& availability, const JobPlace& place, Time start) {
  const auto fits = [&](const PlacePart& part) {
    return availability.Fits(PlaceNeed(part.option->need), Opening{start, part.opening.shares});
  };
  if (place.parts.size() == 1) {
    return fits(place.parts.front());
  }
  NodesBefore nodes;  // that parts may share
  NoteNodes(availability, place, nodes);
  const bool all = std::all_of(place.parts.begin(), place.parts.end(), [&](const PlacePart& part) {
    if (!fits(part)) {
      return false;
    }
    availability.Take(PlaceNeed(part.option->need), Opening{start, part.opening.shares});
    return true;
  });
  availability.Restore(std::move(nodes));
  return all;
}

void PutOff(Availability& availability, JobPlace& place) {
  constexpr std::array<int, 4> kQuarters = {4, 3, 2, 1};
  const Time start = place.start();
  const Duration room = place.by - start;
  for (const int quarters : kQuarters) {
    const Time later = start + room / 4 * quarters;
    if (later > start && FitsFrom(availability, place, later)) {
      place.MoveTo(later);
      return;
    }
  }
}

bool IsInWayOf(const JobPlace& place, const JobPlace& aim) {
  Time end = aim.start();
  for (const PlacePart& part : aim.parts) {
    end = std::max(end, NeededUntil(aim.start(), PlaceNeed(part.option->need).duration));
  }
  if (end <= place.start()) {
    return false;
  }
  const auto has = [](const JobPlace& other, std::uint32_t node) {
    return std::any_of(other.parts.begin(), other.parts.end(), [&](const PlacePart& part) {
      return std::any_of(part.opening.shares.begin(), part.opening.shares.end(),
                         [&](const NodeShare& share) { return share.node == node; });
    });
  };
  return std::any_of(place.parts.begin(), place.parts.end(), [&](const PlacePart& part) {
    return std::any_of(part.opening.shares.begin(), part.opening.shares.end(),
                       [&](const NodeShare& share) { return has(aim, share.node); });
  });
}

}  // namespace muster::core
