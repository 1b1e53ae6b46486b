#pragma once

// The jobs that wait for identical processors, in an order, with a quick search for one that fits.
//
// Kept in blocks of neighbours, each with the fewest processors and the shortest estimate inside,
// so that a backfilling cycle skips the blocks where nothing can start. Insert, erase and a step of
// a search cost O(log n + kBlock), a whole search O(n / kBlock) at best. Thread promise: a value;
// one thread at a time. Invariants: (1) entries are in the order of (score, number), and a number
// occurs once; (2) no block is empty.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "scheduler/simulator/flat/timeline.h"

namespace muster::sim {

struct WaitingEntry {
  double score = 0;          // the smallest goes first
  std::uint64_t number = 0;  // of its arrival: breaks ties
  std::uint32_t job = 0;     // the caller's handle
  std::int64_t processors = 0;
  Tick estimate = 0;
};

// The order of the list.
inline bool GoesBefore(const WaitingEntry& a, const WaitingEntry& b) {
  return a.score != b.score ? a.score < b.score : a.number < b.number;
}

// What may start in the shadow of a blocked head: `processors` at most, and either done within
// `window` or no more than `extra` processors.
struct FlatOpening {
  std::int64_t processors = 0;
  Tick window = kNever;
  std::int64_t extra = 0;
  [[nodiscard]] bool Admits(std::int64_t wanted, Tick estimate) const {
    return wanted <= processors && (estimate <= window || wanted <= extra);
  }
};

class WaitingList {
 public:
  // Where an entry stands; valid until the list changes.
  struct Position {
    std::size_t block = 0;
    std::size_t place = 0;
  };

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  // REQUIRES: not empty.
  [[nodiscard]] const WaitingEntry& Front() const { return blocks_.front()->entries.front(); }
  [[nodiscard]] const WaitingEntry& At(Position at) const {
    return blocks_[at.block]->entries[at.place];
  }

  void Insert(const WaitingEntry& entry);
  // Removes the entry with this score and number. REQUIRES: it is there.
  void Remove(double score, std::uint64_t number);
  // Removes the entry at `at`; returns where the one after it is now.
  Position RemoveAt(Position at);

  // The first position at or after `from` whose entry `opening` admits; IsEnd() when none does.
  [[nodiscard]] Position Find(Position from, const FlatOpening& opening) const;
  [[nodiscard]] Position Next(Position at) const { return {at.block, at.place + 1}; }
  [[nodiscard]] bool IsEnd(Position at) const { return at.block >= blocks_.size(); }

  // The fewest processors that any entry wants. REQUIRES: not empty.
  [[nodiscard]] std::int64_t FewestProcessors() const;

  // Every entry, in order.
  [[nodiscard]] std::vector<WaitingEntry> Entries() const;
  void Clear();

 private:
  static constexpr std::size_t kBlock = 64;
  struct Block {
    std::vector<WaitingEntry> entries;
  };
  struct Outline {
    std::int64_t fewest = 0;
    Tick shortest = 0;
  };

  [[nodiscard]] std::size_t BlockOf(double score, std::uint64_t number) const;
  void Split(std::size_t block);
  void MergeWithNext(std::size_t block);
  void Outlined(std::size_t block);

  std::size_t size_ = 0;
  std::vector<Outline> outlines_;  // one for each block
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace muster::sim
