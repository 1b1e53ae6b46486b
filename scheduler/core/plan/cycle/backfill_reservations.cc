#include "scheduler/core/plan/cycle/backfill_reservations.h"

#include <algorithm>
#include <utility>

#include "scheduler/core/state/tables/node_use.h"

namespace muster::core {

BackfillReservations::BackfillReservations(CycleState& cycle)
    : cycle_(cycle), left_(ReservationsOf(cycle.config)) {}

BackfillReservations::Promise BackfillReservations::PromiseFrom(JobId job) const {
  const std::vector<PlannedReservation>& promised = cycle_.snapshot.promised;
  return std::lower_bound(
      promised.begin(), promised.end(), job,
      [](const PlannedReservation& reservation, JobId id) { return reservation.job < id; });
}

JobId BackfillReservations::FirstPromised(JobId first, JobId last) const {
  const Promise promise = PromiseFrom(first);
  return promise != cycle_.snapshot.promised.end() && promise->job < last ? promise->job : last;
}

std::optional<Opening> BackfillReservations::Promised(JobId job, const Need& need,
                                                      Time start) const {
  return FindPromised(cycle_.snapshot, cycle_.availability, job, need, start);
}

Prospect BackfillReservations::Earliest(const WaitingJob& job, const OptionList& options) const {
  Prospect best;
  const Promise promise = PromiseFrom(job.id);
  const bool is_promised = promise != cycle_.snapshot.promised.end() && promise->job == job.id;
  const auto look = [&](const StartOption& option, Time from) {
    const Need need = LaterNeed(option.need);
    // What was promised and still holds bounds the search.
    std::optional<Opening> kept = is_promised && promise->start >= from
                                      ? Promised(job.id, need, promise->start)
                                      : std::nullopt;
    std::optional<Opening> opening = kept.has_value()
                                         ? cycle_.availability.FindEarlier(need, from, kept->start)
                                         : cycle_.availability.FindEarliest(need, from);
    const bool keeps = kept.has_value() && !opening.has_value();
    if (keeps) {
      opening = std::move(kept);
    }
    if (opening.has_value() && !opening->shares.empty() &&
        (best.option == nullptr || opening->start < best.opening.start)) {
      best = Prospect{&option, *std::move(opening), keeps};
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

Time BackfillReservations::Keep(const WaitingJob& job, const Prospect& prospect) {
  if (prospect.option == nullptr) {
    return kNoTime;
  }
  --left_;
  ++kept_;
  const Need need = LaterNeed(prospect.option->need);
  std::optional<Opening> same =
      prospect.is_promised ? std::nullopt : Promised(job.id, need, prospect.opening.start);
  const Opening& opening = same.has_value() ? *same : prospect.opening;
  cycle_.availability.Take(need, opening);
  if (opening.start >= kHorizon) {
    return kNoTime;
  }
  cycle_.plan.Reserve(job.id, opening);
  return opening.start;
}

Time BackfillReservations::KeepTogether(const std::vector<const WaitingJob*>& group,
                                        const std::vector<MemberPlace>& places) {
  --left_;
  ++kept_;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const MemberPlace& place = places[i];
    cycle_.availability.Take(LaterNeed(place.option->need), place.opening);
    if (place.opening.start < kHorizon) {
      cycle_.plan.Reserve(group[i]->id, place.opening);
    }
  }
  const Time start = places.front().opening.start;
  return start < kHorizon ? start : kNoTime;
}

Time BackfillReservations::TakeOver(JobId job, const StartOption& option,
                                    const Eviction& eviction) {
  cycle_.preemption.Take(option, eviction);
  for (std::size_t i = 0; i < eviction.opening.shares.size(); ++i) {
    NodeSnapshot& node_snapshot = cycle_.nodes.Change(eviction.opening.shares[i].node);
    CoverUse(node_snapshot.taken, *node_snapshot.machine, eviction.allocation.nodes[i]);
  }
  const Time start = cycle_.snapshot.now + kSoon;
  cycle_.plan.Reserve(job, Opening{start, eviction.opening.shares});
  return start;
}

}  // namespace muster::core
