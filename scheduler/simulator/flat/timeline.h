#pragma once

// The timeline: how much of one amount (processors, say) is free at each moment from now on.
//
// A step function over ticks, kept as its changes in blocks of neighbours, each with its sum and
// the lowest and highest level inside: a search skips whole blocks, a change touches two of them.
// With n changes ahead a reservation costs O(log n + kBlock) and a search O(n / kBlock + kBlock).
// A tick is whatever the caller counts in (the simulator: seconds). Thread promise: a value; one
// thread at a time. Invariants: (1) changes lie after now and none is zero; (2) changes of one
// moment are one; (3) blocks are in order and none is empty.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace muster::sim {

using Tick = std::int64_t;
inline constexpr Tick kNever = std::numeric_limits<Tick>::max();

class Timeline {
 public:
  // `free` is there from `now` on, for ever.
  Timeline(std::int64_t free, Tick now) : now_(now), free_now_(free) {}

  [[nodiscard]] Tick now() const { return now_; }
  [[nodiscard]] std::int64_t FreeNow() const { return free_now_; }

  // Forgets what was before `now`. REQUIRES: time does not go back.
  void Advance(Tick now);

  // Takes `amount` away in [from, until), or gives it back; `until` may be kNever.
  // REQUIRES: now() <= from < until. Levels below zero are the caller's to avoid.
  void Take(Tick from, Tick until, std::int64_t amount) { Change(from, until, -amount); }
  void Give(Tick from, Tick until, std::int64_t amount) { Change(from, until, amount); }

  // What is free at `at`. REQUIRES: now() <= at.
  [[nodiscard]] std::int64_t FreeAt(Tick at) const;

  // The most that is free at any moment of [now(), until).
  [[nodiscard]] std::int64_t HighestUntil(Tick until) const;

  // The earliest start from now on where `amount` is free for `duration`; kNever when there is
  // none. REQUIRES: duration > 0.
  [[nodiscard]] Tick EarliestFit(Tick duration, std::int64_t amount) const {
    return Search(duration, amount, kNever, kNever);
  }

  // The same for a holder of `amount` in [held_from, held_from + duration) that would like to start
  // earlier, as if it had been taken out: only starts before `before` and `held_from` count.
  [[nodiscard]] Tick EarlierFit(Tick duration, std::int64_t amount, Tick held_from,
                                Tick before) const {
    return Search(duration, amount, held_from, before < held_from ? before : held_from);
  }

  // How many changes lie ahead: what a search may have to look at.
  [[nodiscard]] std::size_t changes() const { return changes_; }

 private:
  static constexpr std::size_t kBlock = 32;

  // Changes [begin, end) of the arrays are in use.
  struct Block {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::array<Tick, kBlock> at;
    std::array<std::int64_t, kBlock> by;
  };
  // What is known of a block without looking inside; levels are relative to its left neighbour.
  struct Outline {
    Tick first = 0;
    std::int64_t sum = 0;
    std::int64_t low = 0;
    std::int64_t high = 0;
  };

  void Change(Tick from, Tick until, std::int64_t by);
  void AddChange(Tick at, std::int64_t by);
  void InsertAt(std::size_t block, std::size_t place, Tick at, std::int64_t by);
  void RemoveAt(std::size_t block, std::size_t place);
  void Split(std::size_t block);
  void MergeWithNext(std::size_t block);
  void Outlined(std::size_t block);
  [[nodiscard]] std::size_t BlockOf(Tick at) const;
  [[nodiscard]] Tick Search(Tick duration, std::int64_t amount, Tick held_from, Tick before) const;

  Tick now_;
  std::int64_t free_now_;
  std::size_t changes_ = 0;
  std::vector<Outline> outlines_;  // one for each block
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace muster::sim
