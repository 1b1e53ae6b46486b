#pragma once

// What is free on the nodes of a simulated cluster through time: how large a job one node could
// take at once, and how scattered the rest lies. For one kind of thing: hardware threads, or GPUs.
//
// Fragmentation is 1 - largest / min(free, the largest node), where `largest` is what one node has
// free at most: 0 when what is free lies together as far as nodes are large, towards 1 when it lies
// in crumbs. That is the usual figure for the external fragmentation of memory (the term is that of
// B. Randell, "A note on storage fragmentation and program segmentation", CACM 12(7), 1969), 1 -
// largest free block / free, with a node for the largest block that there can be. Thread promise: a
// value; one thread at a time. Invariants: a change costs the logarithm of a node's size; the
// series keeps at most kBucketsMax values, whatever the time.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "scheduler/simulator/schedule/schedule_metrics.h"

namespace muster::sim {

// Means over one stretch of time.
struct RoomBucket {
  double time_s = 0;         // of the stretch, as far as it has passed
  double largest = 0;        // times seconds
  double fragmentation = 0;  // times seconds in which anything was free
  double free_s = 0;         // those seconds
};

class FreeRoom {
 public:
  static constexpr std::size_t kBucketsMax = 1024;

  // An empty node that is up.
  void AddNode(std::int64_t size);
  // What the node has free from now on. REQUIRES: 0 <= free <= its size.
  void Set(std::size_t node, std::int64_t free);
  // Nothing can be placed on a node that is closed; what is free there is kept in mind.
  void Close(std::size_t node);
  void Open(std::size_t node);
  // Time passes, first from `now` on. REQUIRES: it does not go back.
  void Advance(std::int64_t now);

  // At this moment.
  [[nodiscard]] std::int64_t free() const { return free_; }
  [[nodiscard]] std::int64_t largest_node() const { return size_max_; }
  [[nodiscard]] std::int64_t largest() const {
    return by_free_.empty() ? 0 : by_free_.rbegin()->first;
  }
  [[nodiscard]] double fragmentation() const;

  // Over all the time that passed; 0 of no time.
  [[nodiscard]] double mean_largest() const;
  [[nodiscard]] double mean_fragmentation() const;
  [[nodiscard]] std::int64_t least_largest() const { return least_; }
  // Stretches of equal length from the beginning, the last one shorter.
  [[nodiscard]] const std::vector<RoomBucket>& series() const { return series_; }
  [[nodiscard]] std::int64_t beginning() const { return beginning_; }
  [[nodiscard]] std::int64_t bucket_s() const { return bucket_s_; }

 private:
  struct Node {
    std::int64_t size = 0;
    std::int64_t free = 0;
    bool closed = false;
  };

  void Count(std::int64_t free);
  void Discount(std::int64_t free);
  void Spend(std::int64_t from, std::int64_t until);

  std::vector<Node> nodes_;
  std::map<std::int64_t, std::uint64_t> by_free_;  // open nodes by what they have free
  std::int64_t free_ = 0;
  std::int64_t size_max_ = 0;
  std::int64_t least_ = 0;
  bool begun_ = false;
  std::int64_t beginning_ = 0;
  std::int64_t now_ = 0;
  RoomBucket all_;
  std::vector<RoomBucket> series_;
  std::int64_t bucket_s_ = 1;
};

// With their definitions. Of GPUs nothing where there are none.
std::vector<Metric> RoomMetrics(const FreeRoom& threads, const FreeRoom& gpus);

}  // namespace muster::sim
