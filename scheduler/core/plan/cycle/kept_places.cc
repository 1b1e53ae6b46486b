#include "scheduler/core/plan/cycle/kept_places.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <utility>

#include "scheduler/core/plan/queue/waiting_jobs.h"
#include "scheduler/core/plan/search/group_search.h"
#include "scheduler/core/policy/policy_filter.h"

namespace muster::core {
namespace {

// A place is so much longer than the job's limit: a cycle may come late, and a job that was told
// to end takes a moment.
constexpr Duration kMargin = std::chrono::seconds(60);
// After so long what jobs have left by starting is free for others.
constexpr Duration kAgainAfter = std::chrono::seconds(1);

// The need of a place: a shape of its own.
Need PlaceNeed(const Need& need) {
  constexpr std::uint64_t kOther = 0xc2b2ae3d27d4eb4fU;  // shapes are fingerprints
  Need place = LaterNeed(need);
  if (place.duration.count() > 0) {
    place.duration += kMargin;
    place.shape ^= kOther;
  }
  return place;
}

// The need of a start instead of the job's place. One without a limit may run as long as its place
// is kept: what is planned beyond that, after its end, keeps it from nothing.
Need NeedInsteadOfPlace(const Need& need, Time now) {
  constexpr std::uint64_t kOther = 0x165667b19e3779f9U;  // shapes are fingerprints
  Need start = need;
  if (start.duration.count() <= 0) {
    start.duration = kHorizon - now;
    start.shape ^= kOther;
  }
  return start;
}

// Those of its nodes, as they are now.
std::vector<std::pair<std::uint32_t, NodeTimeline>> TimelinesOf(const Availability& availability,
                                                                const Opening& opening) {
  std::vector<std::pair<std::uint32_t, NodeTimeline>> timelines;
  for (const NodeShare& share : opening.shares) {
    timelines.emplace_back(share.node, availability.timeline(share.node));
  }
  return timelines;
}

bool IsBlocked(CycleState& cycle, const WaitingJob& job) {
  std::vector<Reason> blockers;
  AddJobBlockers(cycle.snapshot, job, cycle.counts, blockers);
  if (blockers.empty() && cycle.snapshot.policy != nullptr) {
    AddPolicyBlockers(cycle.snapshot, job, cycle.usage, blockers);
  }
  return !blockers.empty();
}

bool MayHavePlace(const WaitingJob& job) {
  return !job.held && !job.quarantined && job.het_size == 0 && !job.resizing;
}

std::uint64_t Waiting(const std::vector<WaitingJob>& waiting) {
  std::uint64_t count = 0;
  for (const WaitingJob& job : waiting) {
    count += MayHavePlace(job) ? job.count : 0;
  }
  return count;
}

}  // namespace

KeptPlaces::KeptPlaces(CycleState& cycle, JobStarter& starter)
    : cycle_(cycle),
      starter_(starter),
      on_(cycle.config.priority.order == QueueRule::kPrompt),
      rules_(RulesOf(cycle.config.prompt)) {
  if (on_) {
    is_crowded_ = Waiting(cycle.snapshot.waiting) > cycle.config.prompt.promises;
    for (const WaitingJob& job : cycle.snapshot.waiting) {
      const Duration limit = PlannedDuration(job.spec->time_limit);
      longest_ = std::max(longest_, limit.count() > 0 ? limit : Duration(kLongSpan));
    }
  }
}

void KeptPlaces::BeginTier(const QueuePriority& priority,
                           const std::vector<const WaitingJob*>& entries) {
  priority_ = &priority;
  first_ = JobId();
  aim_ = AimFor(entries);
  in_its_way_.clear();
  stopped_.clear();
  std::vector<WaitingJob> lost;
  for (const WaitingJob* entry : entries) {
    if (MayHavePlace(*entry)) {
      TakeEntry(*entry, lost);
    }
  }
  if (aim_.has_value() && !MakeWay()) {
    for (auto& [job, place] : in_its_way_) {
      // Those that are overdue may be in one another's way.
      if (cycle_.availability.Fits(PlaceNeed(place.option->need), place.opening)) {
        Put(job.id, std::move(place));
      } else {
        lost.push_back(job);
      }
    }
  }
  std::sort(lost.begin(), lost.end(), [](const WaitingJob& a, const WaitingJob& b) {
    return std::tuple(a.promised, a.id) < std::tuple(b.promised, b.id);
  });
  for (const WaitingJob* entry : entries) {
    LendWhatLimitsStop(*entry);
  }
  for (const WaitingJob& job : lost) {
    if (!places_.contains(job.id) && !stopped_.contains(job.id) && !IsBlocked(cycle_, job)) {
      Give(job, OptionsOf(cycle_, job, {}));
    }
  }
}

// The places of its elements that begin now, where a limit keeps them from what they would hold:
// nobody else waits for these nodes as long as the limit is reached.
void KeptPlaces::LendWhatLimitsStop(const WaitingJob& entry) {
  const JobId end(entry.id.value() + entry.count);
  for (auto kept = places_.lower_bound(entry.id); kept != places_.end() && kept->first < end;) {
    const Opening& opening = kept->second.opening;
    if (cycle_.snapshot.policy == nullptr || opening.start > cycle_.snapshot.now) {
      ++kept;
      continue;
    }
    std::vector<std::pair<std::uint32_t, NodeTimeline>> nodes =
        TimelinesOf(cycle_.availability, opening);
    cycle_.availability.Lend(PlaceNeed(kept->second.option->need), opening);
    const bool stops =
        starter_.LimitStops(kept->first, *entry.spec, *kept->second.option,
                            NeedInsteadOfPlace(kept->second.option->need, cycle_.snapshot.now));
    nodes = stops ? TimelinesOf(cycle_.availability, opening) : std::move(nodes);
    for (auto& [node, timeline] : nodes) {
      cycle_.availability.Restore(node, std::move(timeline));
    }
    if (stops) {
      stopped_.insert(kept->first);
    }
    kept = stops ? places_.erase(kept) : std::next(kept);
  }
}

// The elements that the last plan kept a place for, and those that were promised one before.
void KeptPlaces::TakeEntry(const WaitingJob& entry, std::vector<WaitingJob>& lost) {
  const std::vector<PlannedReservation>& promised = cycle_.snapshot.promised;
  auto reservation =
      std::lower_bound(promised.begin(), promised.end(), entry.id,
                       [](const PlannedReservation& kept, JobId id) { return kept.job < id; });
  const std::uint64_t end = entry.id.value() + entry.count;
  const bool none = reservation == promised.end() || reservation->job.value() >= end;
  if (none && entry.promised != kNoTime) {
    lost.push_back(entry);
  }
  for (; reservation != promised.end() && reservation->job.value() < end; ++reservation) {
    const auto offset = static_cast<std::uint32_t>(reservation->job.value() - entry.id.value());
    const WaitingJob job = ElementsOf(entry, offset);
    if (job.promised == kNoTime && is_crowded_) {
      continue;
    }
    std::optional<Place> place = job.promised == kNoTime ? std::nullopt : Again(*reservation, job);
    if (place.has_value() && aim_.has_value() && (job.id == first_ || IsInItsWay(*reservation))) {
      in_its_way_.emplace_back(job, *std::move(place));
    } else if (place.has_value()) {
      Put(job.id, *std::move(place));
    } else {
      lost.push_back(job);
    }
  }
}

// Where the first of these jobs that only resources keep waiting could start if no place were kept.
std::optional<KeptPlaces::Place> KeptPlaces::AimFor(const std::vector<const WaitingJob*>& entries) {
  constexpr std::size_t kLooksMost = 16;
  std::size_t looks = 0;
  for (std::size_t i = 0; i < entries.size() && looks < kLooksMost; ++i) {
    if (entries[i]->resizing && !IsBlocked(cycle_, *entries[i])) {
      return std::nullopt;  // it comes before them: no place that moves forward may be in its way
    }
    if (entries[i]->promised == kNoTime || !MayHavePlace(*entries[i])) {
      continue;
    }
    ++looks;
    const WaitingJob job = ElementsOf(*entries[i], 0);
    if (!IsBlocked(cycle_, job)) {
      first_ = job.id;
      std::optional<Place> place = Earliest(job, OptionsOf(cycle_, job, {}), kNoTime);
      if (place.has_value()) {
        place->by = std::max(job.promised, place->opening.start);
      }
      return place;
    }
  }
  return std::nullopt;
}

// They share a node at some time.
bool KeptPlaces::IsInItsWay(const PlannedReservation& reservation) const {
  const Opening& aim = aim_->opening;
  if (NeededUntil(aim.start, PlaceNeed(aim_->option->need).duration) <= reservation.start) {
    return false;
  }
  return std::any_of(
      reservation.nodes.begin(), reservation.nodes.end(), [&](const ReservedNode& node) {
        return std::any_of(aim.shares.begin(), aim.shares.end(), [&](const NodeShare& share) {
          return cycle_.snapshot.nodes[share.node].id == node.node;
        });
      });
}

// Keeps the first job the place that it aims for, and puts what is in its way elsewhere in time.
// False, and nothing is taken, where a promise could not be kept then. Nothing is asked in here but
// what Availability::Restore allows.
bool KeptPlaces::MakeWay() {
  std::vector<std::pair<WaitingJob, Place>> others = in_its_way_;
  std::erase_if(others, [this](const auto& kept) { return kept.first.id == first_; });
  std::sort(others.begin(), others.end(), [](const auto& a, const auto& b) {
    return std::tuple(b.second.by, b.first.id) < std::tuple(a.second.by, a.first.id);
  });
  trial_.emplace();
  Put(first_, *aim_);
  const bool all = std::all_of(others.begin(), others.end(), [this](const auto& kept) {
    return PutLate(kept.first, kept.second);
  });
  if (!all) {
    for (auto& [node, timeline] : *trial_) {
      cycle_.availability.Restore(node, std::move(timeline));
    }
    places_.erase(first_);
    for (const auto& [job, place] : others) {
      places_.erase(job.id);
    }
  }
  trial_.reset();
  return all;
}

// Keeps the job the same place, or one as late as its promise allows as far as some looks tell, on
// the same nodes if it can be.
bool KeptPlaces::PutLate(const WaitingJob& job, Place place) {
  constexpr int kLooks = 8;
  constexpr std::size_t kMovedElsewhereMost = 16;
  const Need need = PlaceNeed(place.option->need);
  const Time now = cycle_.snapshot.now;
  const Duration room = std::max(place.by - now, Duration(0));
  bool fits = cycle_.availability.Fits(need, place.opening);
  for (int look = kLooks; look >= 0 && !fits; --look) {
    place.opening.start = now + room / kLooks * look;
    fits = cycle_.availability.Fits(need, place.opening);
  }
  const bool few = in_its_way_.size() <= kMovedElsewhereMost;
  for (int look = kLooks; look >= 0 && !fits && few; --look) {
    if (std::optional<Opening> other =
            cycle_.availability.FindAt(need, now + room / kLooks * look)) {
      place.opening = *std::move(other);
      fits = true;
    }
  }
  if (fits) {
    Put(job.id, std::move(place));
  }
  return fits;
}

std::optional<KeptPlaces::Place> KeptPlaces::Again(const PlannedReservation& reservation,
                                                   const WaitingJob& job) {
  const Time start = std::max(reservation.start, cycle_.snapshot.now);
  for (const StartOption* option : OptionsOf(cycle_, job, {})) {
    for (const StartOption* each : {option, option->anywhere}) {
      if (each == nullptr) {
        continue;
      }
      std::optional<Opening> opening =
          FindPromised(cycle_.snapshot, cycle_.availability, job.id, PlaceNeed(each->need), start);
      if (opening.has_value()) {
        return Place{each, *std::move(opening), std::max(job.promised, start)};
      }
    }
  }
  return std::nullopt;
}

std::optional<KeptPlaces::Place> KeptPlaces::Earliest(const WaitingJob& job,
                                                      const OptionList& options, Time before) {
  std::optional<Place> best;
  const auto look = [&](const StartOption& option, Time from) {
    const Need need = PlaceNeed(option.need);
    std::optional<Opening> opening = before == kNoTime
                                         ? cycle_.availability.FindEarliest(need, from)
                                         : cycle_.availability.FindEarlier(need, from, before);
    if (opening.has_value() && !opening->shares.empty() && opening->start < kHorizon &&
        (!best.has_value() || opening->start < best->opening.start)) {
      best = Place{&option, *std::move(opening), kNoTime};
    }
  };
  for (const StartOption* option : options) {
    look(*option, cycle_.snapshot.now);
    if (option->anywhere != nullptr) {
      look(*option->anywhere, SwitchesUntil(job, option->request));
    }
  }
  return best;
}

void KeptPlaces::Put(JobId job, Place place) {
  for (std::size_t i = 0; trial_.has_value() && i < place.opening.shares.size(); ++i) {
    const std::uint32_t node = place.opening.shares[i].node;
    trial_->try_emplace(node, cycle_.availability.timeline(node));
  }
  cycle_.availability.Take(PlaceNeed(place.option->need), place.opening);
  places_[job] = std::move(place);
}

Time KeptPlaces::Give(const WaitingJob& job, const OptionList& options) {
  std::optional<Place> place = Earliest(job, options, kNoTime);
  if (!place.has_value() ||
      (place->opening.start <= cycle_.snapshot.now &&
       starter_.LimitStops(job.id, *job.spec, *place->option,
                           NeedInsteadOfPlace(place->option->need, cycle_.snapshot.now)))) {
    return kNoTime;
  }
  const Time earliest = place->opening.start;
  if (job.promised == kNoTime) {
    const Time worked_off = cycle_.snapshot.now + priority_->backlog()->Before(job.id);
    const Time fcfs = std::max(earliest, worked_off);
    place->by = Time(Duration(PromiseOf(rules_, fcfs.time_since_epoch().count())));
  } else {
    place->by = std::max(job.promised, earliest);
  }
  if (place->by != job.promised) {
    cycle_.plan.Promise(PlannedPromise{job.id, place->by});
  }
  PutOff(*place);
  ++made_;
  const Time start = ThoughtStart(*place);
  Put(job.id, *std::move(place));
  return start;
}

// To as late as the promise allows on its nodes, as far as a few looks tell.
void KeptPlaces::PutOff(Place& place) const {
  constexpr std::array<int, 4> kQuarters = {4, 3, 2, 1};
  const Need need = PlaceNeed(place.option->need);
  const Duration room = place.by - place.opening.start;
  for (const int quarters : kQuarters) {
    const Opening later{place.opening.start + room / 4 * quarters, place.opening.shares};
    if (later.start > place.opening.start && cycle_.availability.Fits(need, later)) {
      place.opening = later;
      return;
    }
  }
}

// To where it could start first. One that has lost its patience is promised that from now on.
void KeptPlaces::MoveForward(const WaitingJob& job, const OptionList& options, Place& place) {
  if (std::optional<Place> earlier = Earliest(job, options, place.opening.start)) {
    cycle_.availability.Take(PlaceNeed(earlier->option->need), earlier->opening);
    Leave(place);
    earlier->by = place.by;
    place = *std::move(earlier);
  }
  if (priority_->prompt_keys()->IsImpatient(job) && place.opening.start < place.by) {
    place.by = place.opening.start;
    cycle_.plan.Promise(PlannedPromise{job.id, place.by});
  }
}

Time KeptPlaces::Keep(const WaitingJob& job, const OptionList& options, bool is_first) {
  const auto own = places_.find(job.id);
  if (own != places_.end()) {
    Place& place = own->second;
    Time start = kNoTime;
    if (is_first) {
      MoveForward(job, options, place);
      start = place.opening.start;
    } else {
      // Others made way for the first of its tier, though another tier's job be first of its
      // partition: put off, it would come back in the next cycle, and its nodes stay empty
      // meanwhile.
      start = ThoughtStart(place);
      if (job.id != first_ && place.by - place.opening.start > cycle_.config.prompt.slack / 2 &&
          !priority_->prompt_keys()->IsImpatient(job)) {
        const Place before = place;
        PutOff(place);
        if (place.opening.start > before.opening.start) {
          Leave(before);
          cycle_.availability.Take(PlaceNeed(place.option->need), place.opening);
        }
      }
    }
    Show(job.id, place);
    return start;
  }
  if (!MayHavePlace(job)) {
    return kNoTime;
  }
  if (is_crowded_) {
    without_.push_back({job, options});
    return is_first ? KeepUnpromised(job, options) : kNoTime;
  }
  Time start = Give(job, options);
  const auto given = places_.find(job.id);
  if (given == places_.end()) {
    return is_first ? KeepUnpromised(job, options) : kNoTime;
  }
  if (is_first) {
    MoveForward(job, options, given->second);
    start = given->second.opening.start;
  }
  Show(job.id, given->second);
  return start;
}

// The first job has no promise: nobody who comes after is in its way now. Where its start hangs on
// a job without a limit, no other such job overtakes it.
Time KeptPlaces::KeepUnpromised(const WaitingJob& job, const OptionList& options) {
  constexpr std::size_t kUnpromisedMost = 64;
  if (unpromised_ >= kUnpromisedMost) {
    return kNoTime;
  }
  if (std::optional<Place> place = Earliest(job, options, kNoTime)) {
    ++unpromised_;
    cycle_.availability.Take(PlaceNeed(place->option->need), place->opening);
    Show(job.id, *place);
    return place->opening.start;
  }
  for (const StartOption* option : options) {
    const Need need = PlaceNeed(option->need);
    const std::optional<Opening> opening =
        cycle_.availability.FindEarliest(need, cycle_.snapshot.now);
    if (opening.has_value() && !opening->shares.empty()) {
      ++unpromised_;
      cycle_.availability.Take(need, *opening);
      return kNoTime;
    }
  }
  return kNoTime;
}

// What is kept for the plan after this one.
void KeptPlaces::Show(JobId job, Place& place) {
  place.shown = true;
  cycle_.plan.Reserve(job, place.opening);
  WakeAt(place.opening.start, cycle_.counts);
}

// It stays taken until the next cycle, perhaps in the way of others.
void KeptPlaces::Leave(const Place& place) {
  has_left_ = has_left_ || place.opening.start - cycle_.snapshot.now < longest_;
}

// When first come, first served would start it, while that is not over.
Time KeptPlaces::ThoughtStart(const Place& place) const {
  const Time fcfs = place.by - cycle_.config.prompt.slack;
  return fcfs > cycle_.snapshot.now ? std::min(fcfs, place.opening.start) : place.opening.start;
}

bool KeptPlaces::StartBesideOwn(const WaitingJob& job, const OptionList& options,
                                std::optional<Reason>& limit) {
  const auto own = places_.find(job.id);
  if (own == places_.end()) {
    return false;
  }
  const Place& place = own->second;
  const Time now = cycle_.snapshot.now;
  if (place.opening.start >= NeededUntil(now, place.option->need.duration)) {
    return false;  // it is in nobody's way yet
  }
  const std::vector<std::pair<std::uint32_t, NodeTimeline>> before =
      TimelinesOf(cycle_.availability, place.opening);
  cycle_.availability.Lend(PlaceNeed(place.option->need), place.opening);
  std::optional<JobStarter::Found> found;
  const StartOption* where = nullptr;
  for (const StartOption* option : options) {
    found = found.has_value() ? std::move(found)
                              : starter_.FindPlace(job.id, NeedInsteadOfPlace(option->need, now));
    where = where == nullptr && found.has_value() ? option : where;
  }
  for (const auto& [node, timeline] : before) {
    cycle_.availability.Restore(node, timeline);
  }
  if (!found.has_value() ||
      (cycle_.snapshot.policy != nullptr &&
       !starter_.CountInLimits(job, *where, found->allocation, cycle_.usage, limit))) {
    return false;
  }
  starter_.Start(job, *where, found->opening, std::move(found->allocation));
  return true;
}

bool KeptPlaces::StartsWithin(JobId job, Duration time) const {
  const auto own = places_.find(job);
  return own != places_.end() && own->second.opening.start <= cycle_.snapshot.now + time;
}

void KeptPlaces::LeaveAlike(const WaitingJob& entry, std::uint32_t first, std::uint32_t count) {
  if (!without_.empty() && without_.back().FirstId() + 1 == entry.id.value() + first) {
    without_.push_back({entry, without_.back().options, first, count});
  }
}

void KeptPlaces::Finish() {
  std::sort(without_.begin(), without_.end(),
            [](const Without& a, const Without& b) { return a.FirstId() < b.FirstId(); });
  for (const Without& left : without_) {
    for (std::uint32_t i = 0; i < left.count; ++i) {
      if (places_.size() >= cycle_.config.prompt.promises) {
        break;
      }
      const WaitingJob job = ElementsOf(left.entry, left.first + i);
      Give(job, left.options);
      const auto given = places_.find(job.id);
      if (given == places_.end()) {
        break;  // nor do those that are alike find one
      }
      Show(job.id, given->second);
    }
  }
  for (const auto& [job, place] : places_) {
    if (!place.shown) {
      Leave(place);
    }
  }
  if (has_left_ && cycle_.plan.any_waiting()) {
    WakeAt(cycle_.snapshot.now + kAgainAfter, cycle_.counts);
  }
}

}  // namespace muster::core
