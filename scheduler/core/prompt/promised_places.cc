#include "scheduler/core/prompt/promised_places.h"

#include <algorithm>

#include "scheduler/base/status.h"

namespace muster::core {
namespace {

PromiseTime FloorTo(PromiseTime at, PromiseTime grid) {
  const PromiseTime rest = at % grid;
  return at - (rest < 0 ? rest + grid : rest);
}

// The last point of the grid that is no later than `at`. Nearer to now the grid is finer, and its
// points there count.
PromiseTime RoundDown(PromiseTime at, PromiseTime now) {
  const PromiseTime grid = GridAt(at - now);
  const PromiseTime point = FloorTo(at, grid);
  if (grid == 1 || point - now >= kGridSteps / 2 * grid) {
    return point;
  }
  const PromiseTime finer = FloorTo(now + kGridSteps / 2 * grid - 1, grid / 2);
  return std::max(now, std::max(point, finer));
}

// The first point of the grid that is no earlier than `at`. Farther off the grid is coarser.
PromiseTime RoundUp(PromiseTime at, PromiseTime now) {
  PromiseTime point = at;
  for (PromiseTime grid = GridAt(point - now); FloorTo(point, grid) != point;
       grid = GridAt(point - now)) {
    point = FloorTo(point, grid) + grid;
  }
  return point;
}

PromiseTime EndOf(PromiseTime start, PromiseTime limit) {
  return limit >= kFarthest - start ? kFarthest : start + limit;
}

}  // namespace

void PromisedPlaces::Advance(PromiseTime now) {
  MUSTER_CHECK(now >= now_);
  now_ = now;
  std::size_t gone = 0;
  while (gone < steps_.size() && steps_[gone].at <= now) {
    free_now_ = steps_[gone++].free;
  }
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(gone));
}

// The first step that is later than `at`.
std::size_t PromisedPlaces::FirstAfter(PromiseTime at) const {
  const auto found = std::upper_bound(steps_.begin(), steps_.end(), at,
                                      [](PromiseTime t, const Step& step) { return t < step.at; });
  return static_cast<std::size_t>(found - steps_.begin());
}

// The step at `at`, made where there is none. REQUIRES: at > now().
std::size_t PromisedPlaces::StepAt(PromiseTime at) {
  const std::size_t after = FirstAfter(at);
  if (after > 0 && steps_[after - 1].at == at) {
    return after - 1;
  }
  const std::int64_t free = after == 0 ? free_now_ : steps_[after - 1].free;
  steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(after), Step{at, free});
  return after;
}

// Steps at which nothing changes are none: those at `first` and `last` are looked at.
void PromisedPlaces::Merge(std::size_t first, std::size_t last) {
  for (const std::size_t index : {last, first}) {
    if (index >= steps_.size()) {
      continue;
    }
    const std::int64_t before = index == 0 ? free_now_ : steps_[index - 1].free;
    if (steps_[index].free == before) {
      steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(index));
    }
  }
}

void PromisedPlaces::Change(PromiseTime from, PromiseTime until, std::int64_t by) {
  if (until <= now_ || from >= until) {
    return;
  }
  std::size_t first = 0;
  bool has_first = false;
  if (from > now_) {
    first = StepAt(from);
    has_first = true;
  }
  const std::size_t last = StepAt(until);
  if (!has_first) {
    free_now_ += by;
    MUSTER_CHECK(free_now_ >= 0);
  }
  for (std::size_t i = first; i < last; ++i) {
    steps_[i].free += by;
    MUSTER_CHECK(steps_[i].free >= 0);
  }
  Merge(has_first ? first : steps_.size(), last);
}

KeptPlace PromisedPlaces::Keep(PromiseTime start, PromiseTime limit, std::int64_t amount) {
  MUSTER_CHECK(start >= now_ && limit > 0);
  const KeptPlace place{start, RoundDown(start, now_), RoundUp(EndOf(start, limit), now_), amount};
  Change(place.from, place.until, -amount);
  return place;
}

void PromisedPlaces::KeepAgain(const KeptPlace& place) {
  Change(place.from, place.until, -place.amount);
}

void PromisedPlaces::GiveBack(const KeptPlace& place) {
  Change(place.from, place.until, place.amount);
}

PromiseTime PromisedPlaces::Earliest(PromiseTime from, PromiseTime limit,
                                     std::int64_t amount) const {
  PromiseTime start = std::max(from, now_);
  std::size_t i = FirstAfter(start);
  bool fits = (i == 0 ? free_now_ : steps_[i - 1].free) >= amount;
  for (; i < steps_.size(); ++i) {
    if (fits && steps_[i].at >= EndOf(start, limit)) {
      return start;
    }
    if (steps_[i].free < amount) {
      fits = false;
    } else if (!fits) {
      fits = true;
      start = steps_[i].at;
    }
  }
  return fits ? start : kNoPromise;
}

PromiseTime PromisedPlaces::Latest(PromiseTime by, PromiseTime limit, std::int64_t amount) const {
  PromiseTime start = by;
  if (start < now_) {
    return kNoPromise;
  }
  // From the right: a stretch with too little pushes the candidate to end where it begins.
  const auto end = std::lower_bound(steps_.begin(), steps_.end(), EndOf(start, limit),
                                    [](const Step& step, PromiseTime t) { return step.at < t; });
  for (auto step = end; step != steps_.begin();) {
    --step;
    const bool in_it = step + 1 == steps_.end() || (step + 1)->at > start;
    if (!in_it) {
      return start;  // the stretch before the candidate, and it fits
    }
    if (step->free < amount) {
      start = step->at - limit;
      if (start < now_) {
        return kNoPromise;
      }
    }
  }
  const PromiseTime first = steps_.empty() ? kNoPromise : steps_.front().at;
  return start >= first || free_now_ >= amount ? start : kNoPromise;
}

bool PromisedPlaces::FitsNow(PromiseTime limit, std::int64_t amount, const KeptPlace& own) const {
  const PromiseTime end = EndOf(now_, limit);
  const bool is_own_now = own.from <= now_ && own.until > now_;
  if (free_now_ + (is_own_now ? own.amount : 0) < amount) {
    return false;
  }
  for (const Step& step : steps_) {
    if (step.at >= end) {
      return true;
    }
    const bool is_own = step.at >= own.from && step.at < own.until;
    if (step.free + (is_own ? own.amount : 0) < amount) {
      return false;
    }
  }
  return true;
}

PromisedPlaces::Narrow PromisedPlaces::FirstNarrow(std::int64_t amount) const {
  for (const Step& step : steps_) {
    if (step.free <= amount) {
      return {step.at, step.free};
    }
  }
  return {};
}

}  // namespace muster::core
