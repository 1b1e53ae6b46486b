#pragma once

// Places in time that are kept for jobs, on one amount (processors, nodes, GPUs).
//
// The proof that every promise can be kept: each waiting job has a place that begins no later than
// its promise, each running one has its own up to its limit, and no moment has less than nothing
// free. Moments are rounded outwards to a grid that is coarser the farther off they are (a 64th of
// the distance, a power of two), so the number of steps grows with the logarithm of the horizon and
// not with the jobs. Slack-based backfilling: D. Talby, D. G. Feitelson, IPPS 1999; S. Srinivasan
// et al., JSSPP 2002. Thread promise: a value; one thread at a time. Invariants: (1) steps lie
// after now, in order, and neighbours differ; (2) a step at distance d is a multiple of GridAt(d),
// so what was rounded long ago still ends on steps of today; (3) nothing kept is ever moved by a
// call that does not name it.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace muster::core {

// A moment or a span, in whatever the caller counts; the simulator: seconds.
using PromiseTime = std::int64_t;
inline constexpr PromiseTime kNoPromise = std::numeric_limits<PromiseTime>::max();
// Moments from here on are as good as never. Limits of many years, summed, stay below.
inline constexpr PromiseTime kFarthest = PromiseTime{1} << 60;

// What is kept: `amount` in [from, until), and the job's start in it.
struct KeptPlace {
  PromiseTime start = kNoPromise;
  PromiseTime from = 0;
  PromiseTime until = 0;
  std::int64_t amount = 0;
};

// How many points of the grid lie between a distance and twice it, at most.
inline constexpr PromiseTime kGridSteps = 128;

// The distance between neighbouring points of the grid, that far from now; 1 nearby.
constexpr PromiseTime GridAt(PromiseTime distance) {
  return distance < kGridSteps ? 1
                               : 2 * static_cast<PromiseTime>(std::bit_floor(
                                         static_cast<std::uint64_t>(distance / kGridSteps)));
}

class PromisedPlaces {
 public:
  // `free` is there from `now` on, for ever.
  PromisedPlaces(std::int64_t free, PromiseTime now) : now_(now), free_now_(free) {}

  [[nodiscard]] PromiseTime now() const { return now_; }
  [[nodiscard]] std::int64_t FreeNow() const { return free_now_; }
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }

  // Forgets what was before `now`. REQUIRES: time does not go back.
  void Advance(PromiseTime now);

  // The place of a job that starts at `start` and may run for `limit`, and takes it away.
  // REQUIRES: now() <= start, and it is free.
  KeptPlace Keep(PromiseTime start, PromiseTime limit, std::int64_t amount);
  // The same place, taken again: after Load.
  void KeepAgain(const KeptPlace& place);
  // What is left of the place from now on is free again.
  void GiveBack(const KeptPlace& place);

  // The earliest start from `from` on; kFarthest or later when there is none.
  [[nodiscard]] PromiseTime Earliest(PromiseTime from, PromiseTime limit,
                                     std::int64_t amount) const;
  // The latest start that is no later than `by`; kNoPromise when there is none from now on.
  [[nodiscard]] PromiseTime Latest(PromiseTime by, PromiseTime limit, std::int64_t amount) const;
  // True when the holder of `own` could start now instead; false now and then where it could.
  // REQUIRES: `own` is kept for the same limit and amount, and starts now or later; or is none.
  [[nodiscard]] bool FitsNow(PromiseTime limit, std::int64_t amount, const KeptPlace& own) const;

  // The first moment from which on no more than `amount` is free, and what is free there: who runs
  // beyond it needs no more than that. kNoPromise when that is never so.
  struct Narrow {
    PromiseTime at = kNoPromise;
    std::int64_t free = 0;
  };
  [[nodiscard]] Narrow FirstNarrow(std::int64_t amount) const;

 private:
  struct Step {
    PromiseTime at = 0;
    std::int64_t free = 0;  // from then on
  };

  void Change(PromiseTime from, PromiseTime until, std::int64_t by);
  std::size_t StepAt(PromiseTime at);
  [[nodiscard]] std::size_t FirstAfter(PromiseTime at) const;
  void Merge(std::size_t first, std::size_t last);

  PromiseTime now_;
  std::int64_t free_now_;
  std::vector<Step> steps_;
};

}  // namespace muster::core
