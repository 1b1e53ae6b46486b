#include "scheduler/core/plan/cycle/tier_places.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "scheduler/core/plan/queue/waiting_jobs.h"

namespace muster::core {
namespace {

// At how many times one looks for a place before the promised one.
constexpr int kLooks = 8;

}  // namespace

bool MayHavePlace(const WaitingJob& job) {
  return !job.held && !job.quarantined && !job.resizing &&
         (job.het_size == 0 || job.id == job.submission);
}

void TierPlaces::Take(const std::vector<const WaitingJob*>& entries, const Backlog& backlog) {
  aim_ = AimFor(entries);
  for (const WaitingJob* entry : entries) {
    if (MayHavePlace(*entry)) {
      TakeEntry(*entry);
    }
  }
  std::erase_if(lost_, [this](const WaitingJob& job) { return book_.IsBlocked(job); });
  std::sort(lost_.begin(), lost_.end(), [](const WaitingJob& a, const WaitingJob& b) {
    return std::tuple(a.promised == kNoTime, a.promised, a.id) <
           std::tuple(b.promised == kNoTime, b.promised, b.id);
  });
  if (aim_.has_value() && !MakeWay(backlog)) {
    for (auto& [job, place] : in_its_way_) {
      // Those that are overdue may be in one another's way.
      if (FitsFrom(cycle_.availability, place, place.start())) {
        book_.Put(job.id, std::move(place));
      } else {
        lost_.push_back(job);
      }
    }
  }
  for (std::size_t i = 0; i < entries.size() && cycle_.snapshot.policy != nullptr; ++i) {
    LendWhatLimitsStop(*entries[i]);
  }
  GiveLost(backlog);
  for (const WaitingJob& job : lost_) {
    const JobPlace* place = book_.Find(job.id);
    if (place != nullptr && place->by != job.promised) {
      book_.Promise(*place);
    }
  }
}

// The elements that the last plan kept a place for, and those that were promised one before.
void TierPlaces::TakeEntry(const WaitingJob& entry) {
  const std::vector<PlannedReservation>& promised = cycle_.snapshot.promised;
  auto reservation =
      std::lower_bound(promised.begin(), promised.end(), entry.id,
                       [](const PlannedReservation& kept, JobId id) { return kept.job < id; });
  const std::uint64_t end = entry.id.value() + entry.count;
  const bool none = reservation == promised.end() || reservation->job.value() >= end;
  if (none && entry.promised != kNoTime) {
    lost_.push_back(entry);
  }
  for (; reservation != promised.end() && reservation->job.value() < end; ++reservation) {
    const auto offset = static_cast<std::uint32_t>(reservation->job.value() - entry.id.value());
    const WaitingJob job = ElementsOf(entry, offset);
    if (job.promised == kNoTime && is_crowded_) {
      continue;
    }
    const Time from = std::max(reservation->start, cycle_.snapshot.now);
    std::optional<JobPlace> place =
        job.promised == kNoTime ? std::nullopt : book_.search().Again(book_.MembersOf(job), from);
    if (!place.has_value()) {
      lost_.push_back(job);
      continue;
    }
    place->by = std::max(job.promised, from);
    if (aim_.has_value() && (job.id == first_ || IsInWayOf(*place, *aim_))) {
      in_its_way_.emplace_back(job, *std::move(place));
    } else {
      book_.Put(job.id, *std::move(place));
    }
  }
}

// Those of its elements that begin now, where a limit keeps them from what they would hold: nobody
// else waits for these nodes as long as the limit is reached.
void TierPlaces::LendWhatLimitsStop(const WaitingJob& entry) {
  const JobId end(entry.id.value() + entry.count);
  std::map<JobId, JobPlace>& places = book_.all();
  for (auto kept = places.lower_bound(entry.id); kept != places.end() && kept->first < end;) {
    const JobPlace& place = kept->second;
    const bool stops =
        place.start() <= cycle_.snapshot.now &&
        LendPlaceIf(cycle_.availability, place, [&] { return book_.LimitStops(entry, place); });
    kept = stops ? places.erase(kept) : std::next(kept);
  }
}

// Where the first of these jobs that only resources keep waiting could start if no place were kept.
std::optional<JobPlace> TierPlaces::AimFor(const std::vector<const WaitingJob*>& entries) {
  constexpr std::size_t kLooksMost = 16;
  std::size_t looks = 0;
  for (std::size_t i = 0; i < entries.size() && looks < kLooksMost; ++i) {
    if (entries[i]->resizing && !book_.IsBlocked(*entries[i])) {
      return std::nullopt;  // it comes before them: no place that moves forward may be in its way
    }
    if (entries[i]->promised == kNoTime || !MayHavePlace(*entries[i])) {
      continue;
    }
    ++looks;
    const WaitingJob job = ElementsOf(*entries[i], 0);
    if (book_.IsBlocked(job)) {
      continue;
    }
    std::optional<JobPlace> place = book_.search().Earliest(job, book_.MembersOf(job), kNoTime);
    if (!place.has_value() || !book_.LimitStops(job, *place)) {
      first_ = job.id;
      if (place.has_value()) {
        place->by = std::max(job.promised, place->start());
      }
      return place;
    }
  }
  return std::nullopt;
}

// Keeps the first job the place that it aims for, puts what is in its way elsewhere in time, and
// gives places to those that lost theirs. False, and nothing is taken, where a promise could not be
// kept then.
bool TierPlaces::MakeWay(const Backlog& backlog) {
  std::vector<std::pair<WaitingJob, JobPlace>> others = in_its_way_;
  std::erase_if(others, [this](const auto& kept) { return kept.first.id == first_; });
  std::sort(others.begin(), others.end(), [](const auto& a, const auto& b) {
    return std::tuple(b.second.by, b.first.id) < std::tuple(a.second.by, a.first.id);
  });
  book_.Try();
  book_.Put(first_, *aim_);
  const bool moved = std::all_of(others.begin(), others.end(), [this](const auto& kept) {
    return PutLate(kept.first, kept.second);
  });
  const bool all = moved && GiveAll(backlog, Within::kEarliest) == lost_.size();
  if (all) {
    book_.EndTrial();
    return true;
  }
  book_.Undo(moved && !lost_.empty());
  return false;
}

// Keeps the job the same place, or one as late as its promise allows as far as some looks tell, on
// the same nodes if it can be.
bool TierPlaces::PutLate(const WaitingJob& job, JobPlace place) {
  constexpr std::size_t kMovedElsewhereMost = 16;
  const Time now = cycle_.snapshot.now;
  const Duration room = std::max(place.by - now, Duration(0));
  bool fits = FitsFrom(cycle_.availability, place, place.start());
  for (int look = kLooks; look >= 0 && !fits; --look) {
    place.MoveTo(now + room / kLooks * look);
    fits = FitsFrom(cycle_.availability, place, place.start());
  }
  const bool may_move = in_its_way_.size() <= kMovedElsewhereMost && place.parts.size() == 1;
  for (int look = kLooks; look >= 0 && !fits && may_move; --look) {
    PlacePart& part = place.parts.front();
    if (std::optional<Opening> other =
            cycle_.availability.FindAt(PlaceNeed(part.option->need), now + room / kLooks * look)) {
      part.opening = *std::move(other);
      fits = true;
    }
  }
  if (fits) {
    book_.Put(job.id, std::move(place));
  }
  return fits;
}

// As early as can be, the first promised first: who comes first in his partition would leave a late
// one at once, it would be in the way of others, and so in each cycle as long as what he is planned
// behind outlives its limit. Where a promise would be broken, that job first, or all as late as
// their promises allow.
void TierPlaces::GiveLost(const Backlog& backlog) {
  constexpr int kOrders = 4;
  const std::vector<WaitingJob> by_promise = lost_;
  for (int order = 0; order < kOrders && lost_.size() > 1; ++order) {
    const std::size_t broken = TryToGive(backlog, Within::kEarliest);
    if (broken == lost_.size()) {
      return;
    }
    std::rotate(lost_.begin(), lost_.begin() + static_cast<std::ptrdiff_t>(broken),
                lost_.begin() + static_cast<std::ptrdiff_t>(broken) + 1);
  }
  lost_ = by_promise;
  if (lost_.size() < 2 || TryToGive(backlog, Within::kLate) < lost_.size()) {
    GiveAll(backlog, Within::kEarliest);
  }
}

// As GiveAll; nothing is given unless all promises are kept.
std::size_t TierPlaces::TryToGive(const Backlog& backlog, Within where) {
  book_.Try();
  const std::size_t broken = GiveAll(backlog, where);
  if (broken == lost_.size()) {
    book_.EndTrial();
  } else {
    book_.Undo(true);
  }
  return broken;
}

// The first of those that lost theirs whose promise is broken; as many as there are: none is.
std::size_t TierPlaces::GiveAll(const Backlog& backlog, Within where) {
  std::size_t broken = lost_.size();
  for (std::size_t i = 0; i < lost_.size(); ++i) {
    const WaitingJob& job = lost_[i];
    if (book_.Find(job.id) != nullptr) {
      continue;
    }
    std::optional<JobPlace> place =
        where == Within::kLate ? LateFor(job) : book_.New(job, book_.MembersOf(job), backlog);
    const bool kept = place.has_value() ? job.promised == kNoTime || place->by <= job.promised
                                        : where == Within::kEarliest;
    broken = kept ? broken : std::min(broken, i);
    if (place.has_value()) {
      book_.Put(job.id, *std::move(place));
    }
  }
  return broken;
}

// As late as the job's promise allows, as far as some looks tell.
std::optional<JobPlace> TierPlaces::LateFor(const WaitingJob& job) {
  const Time now = cycle_.snapshot.now;
  const Duration room = job.promised - now;
  const std::vector<GroupMember> members = book_.MembersOf(job);
  for (int look = kLooks; look >= 0 && room.count() >= 0; --look) {
    if (std::optional<JobPlace> place = book_.search().At(members, now + room / kLooks * look)) {
      place->by = job.promised;
      return place;
    }
  }
  return std::nullopt;
}

}  // namespace muster::core
