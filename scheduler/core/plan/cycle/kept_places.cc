#include "scheduler/core/plan/cycle/kept_places.h"

#include <algorithm>
#include <utility>

#include "scheduler/core/plan/cycle/tier_places.h"
#include "scheduler/core/plan/queue/waiting_jobs.h"

namespace muster::core {
namespace {

// After so long what jobs have left by starting is free for others.
constexpr Duration kAgainAfter = std::chrono::seconds(1);

std::uint64_t Waiting(const std::vector<WaitingJob>& waiting) {
  std::uint64_t count = 0;
  for (const WaitingJob& job : waiting) {
    count += MayHavePlace(job) ? job.count : 0;
  }
  return count;
}

// Of some partition that takes it.
bool IsFirst(const std::vector<GroupMember>& members, const QueueBlockers& before) {
  return std::any_of(members.begin(), members.end(), [&](const GroupMember& member) {
    return std::any_of(member.options.begin(), member.options.end(), [&](const auto* option) {
      return !before.WhyLater(option->partition).has_value();
    });
  });
}

}  // namespace

KeptPlaces::KeptPlaces(CycleState& cycle, JobStarter& starter)
    : cycle_(cycle),
      starter_(starter),
      book_(cycle, starter),
      on_(cycle.config.priority.order == QueueRule::kPrompt) {
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
  TierPlaces tier(cycle_, book_, is_crowded_);
  tier.Take(entries, *priority.backlog());
  first_ = tier.first();
}

Time KeptPlaces::Give(const WaitingJob& job, const std::vector<GroupMember>& members,
                      Within where) {
  std::optional<JobPlace> place = book_.New(job, members, *priority_->backlog());
  if (!place.has_value()) {
    return kNoTime;
  }
  if (place->by != job.promised) {
    book_.Promise(*place);
  }
  if (where == Within::kLate) {
    PutOff(cycle_.availability, *place);
  }
  ++made_;
  const Time start = ThoughtStart(*place);
  book_.Put(job.id, *std::move(place));
  return start;
}

// To where it could start first. One that has lost its patience is promised that from now on.
void KeptPlaces::MoveForward(const WaitingJob& job, const std::vector<GroupMember>& members,
                             JobPlace& place) {
  if (std::optional<JobPlace> earlier = book_.search().Earliest(job, members, place.start())) {
    TakePlace(cycle_.availability, *earlier);
    Leave(place);
    earlier->by = place.by;
    place = *std::move(earlier);
  }
  if (priority_->prompt_keys()->IsImpatient(job) && place.start() < place.by) {
    place.by = place.start();
    book_.Promise(place);
  }
}

Time KeptPlaces::Keep(const WaitingJob& job, const std::vector<GroupMember>& members,
                      const QueueBlockers& before) {
  const bool is_first = IsFirst(members, before);
  if (JobPlace* own = book_.Find(job.id)) {
    JobPlace& place = *own;
    Time start = kNoTime;
    if (is_first) {
      MoveForward(job, members, place);
      start = place.start();
    } else {
      // Others made way for the first of its tier, though another tier's job be first of its
      // partition: put off, it would come back in the next cycle, and its nodes stay empty
      // meanwhile.
      start = ThoughtStart(place);
      if (job.id != first_ && place.by - place.start() > cycle_.config.prompt.slack / 2 &&
          !priority_->prompt_keys()->IsImpatient(job)) {
        const JobPlace early = place;
        PutOff(cycle_.availability, place);
        if (place.start() > early.start()) {
          Leave(early);
          TakePlace(cycle_.availability, place);
        }
      }
    }
    Show(place);
    return start;
  }
  if (!MayHavePlace(job)) {
    return kNoTime;
  }
  if (is_crowded_) {
    without_.push_back({job, members});
    return is_first ? KeepUnpromised(job, members) : kNoTime;
  }
  Time start = Give(job, members, is_first ? Within::kEarliest : Within::kLate);
  JobPlace* given = book_.Find(job.id);
  if (given == nullptr) {
    return is_first ? KeepUnpromised(job, members) : kNoTime;
  }
  if (is_first) {
    MoveForward(job, members, *given);
    start = given->start();
  }
  Show(*given);
  return start;
}

// The first job has no promise: nobody who comes after is in its way now. Where its start hangs on
// a job without a limit, no other such job overtakes it.
Time KeptPlaces::KeepUnpromised(const WaitingJob& job, const std::vector<GroupMember>& members) {
  constexpr std::size_t kUnpromisedMost = 64;
  if (unpromised_ >= kUnpromisedMost) {
    return kNoTime;
  }
  if (std::optional<JobPlace> place = book_.search().Earliest(job, members, kNoTime)) {
    ++unpromised_;
    TakePlace(cycle_.availability, *place);
    Show(*place);
    return place->start();
  }
  for (std::size_t i = 0; i < members.front().options.size() && members.size() == 1; ++i) {
    const Need need = PlaceNeed(members.front().options[i]->need);
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
void KeptPlaces::Show(JobPlace& place) {
  place.shown = true;
  for (const PlacePart& part : place.parts) {
    cycle_.plan.Reserve(part.job, part.opening);
  }
  WakeAt(place.start(), cycle_.counts);
}

// It stays taken until the next cycle, perhaps in the way of others.
void KeptPlaces::Leave(const JobPlace& place) {
  has_left_ = has_left_ || place.start() - cycle_.snapshot.now < longest_;
}

// When first come, first served would start it, while that is not over.
Time KeptPlaces::ThoughtStart(const JobPlace& place) const {
  const Time fcfs = place.by - cycle_.config.prompt.slack;
  return fcfs > cycle_.snapshot.now ? std::min(fcfs, place.start()) : place.start();
}

// Of the job or leader: one that is in its own way now; else null.
const JobPlace* KeptPlaces::InItsOwnWay(JobId job) {
  const JobPlace* own = book_.Find(job);
  return own != nullptr && own->start() < own->NeededUntilFrom(cycle_.snapshot.now) ? own : nullptr;
}

bool KeptPlaces::StartBesideOwn(const WaitingJob& job, const OptionList& options,
                                std::optional<Reason>& limit) {
  const JobPlace* own = InItsOwnWay(job.id);
  if (own == nullptr) {
    return false;
  }
  std::optional<JobStarter::Found> found;
  const StartOption* where = nullptr;
  LendPlaceIf(cycle_.availability, *own, [&] {
    for (std::size_t i = 0; i < options.size() && !found.has_value(); ++i) {
      where = options[i];
      found = starter_.FindPlace(job.id, NeedInsteadOfPlace(where->need, cycle_.snapshot.now));
    }
    return false;
  });
  if (!found.has_value() ||
      (cycle_.snapshot.policy != nullptr &&
       !starter_.CountInLimits(job, *where, found->allocation, cycle_.usage, limit))) {
    return false;
  }
  starter_.Start(job, *where, found->opening, std::move(found->allocation));
  return true;
}

std::optional<std::vector<MemberPlace>> KeptPlaces::FindBesideOwn(
    const WaitingJob& leader, const std::vector<GroupMember>& members) {
  std::optional<std::vector<MemberPlace>> found;
  if (const JobPlace* own = InItsOwnWay(leader.id)) {
    LendPlaceIf(cycle_.availability, *own, [&] {
      found = book_.search().FindNow(members);
      return false;
    });
  }
  return found;
}

bool KeptPlaces::StartsWithin(JobId job, Duration time) {
  const JobPlace* own = book_.Find(job);
  return own != nullptr && own->start() <= cycle_.snapshot.now + time;
}

void KeptPlaces::LeaveAlike(const WaitingJob& entry, std::uint32_t first, std::uint32_t count) {
  if (!without_.empty() && without_.back().FirstId() + 1 == entry.id.value() + first) {
    without_.push_back({entry, without_.back().members, first, count});
  }
}

void KeptPlaces::Finish() {
  std::sort(without_.begin(), without_.end(),
            [](const Without& a, const Without& b) { return a.FirstId() < b.FirstId(); });
  for (const Without& left : without_) {
    for (std::uint32_t i = 0; i < left.count; ++i) {
      if (book_.all().size() >= cycle_.config.prompt.promises) {
        break;
      }
      const WaitingJob job = ElementsOf(left.entry, left.first + i);
      std::vector<GroupMember> members = left.members;
      members.front().job = job.id;  // the same as a leader's
      Give(job, members, Within::kLate);
      JobPlace* given = book_.Find(job.id);
      if (given == nullptr) {
        break;  // nor do those that are alike find one
      }
      Show(*given);
    }
  }
  for (const auto& [job, place] : book_.all()) {
    if (!place.shown) {
      Leave(place);
    }
  }
  if (has_left_ && cycle_.plan.any_waiting()) {
    WakeAt(cycle_.snapshot.now + kAgainAfter, cycle_.counts);
  }
}

}  // namespace muster::core
