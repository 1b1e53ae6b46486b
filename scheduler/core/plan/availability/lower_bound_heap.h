#pragma once

// Nodes in order of the earliest time at which each could take a part of a job: a heap of lower
// bounds. The earliest bounds are kept from cycle to cycle.
//
// A cycle pops a node, works out its exact time and pushes it back; the next cycle begins again
// with the bounds of nodes on which nothing is planned. Nodes that changed since are left out of
// these and pushed again. Thread promise: none; owned by one cycle at a time. Invariants: (1) a
// node is in the queue at most once; (2) no bound is later than the node's exact time; (3) nodes
// that are not kept have no earlier bound than `beyond`.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "scheduler/core/place/nodes/node_timeline.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

// Which nodes changed, in order of the changes.
class ChangeLog {
 public:
  explicit ChangeLog(std::size_t nodes) : last_(nodes, 0) {}

  void Add(std::uint32_t node) {
    nodes_.push_back(node);
    last_[node] = nodes_.size();
  }
  // A point in the log: all that comes after it is later.
  [[nodiscard]] std::size_t mark() const { return nodes_.size(); }
  [[nodiscard]] bool ChangedSince(std::uint32_t node, std::size_t mark) const {
    return last_[node] > mark;
  }
  // Appends the nodes that changed since, each once.
  void AppendSince(std::size_t mark, std::vector<std::uint32_t>& nodes) const {
    for (std::size_t i = mark; i < nodes_.size(); ++i) {
      if (last_[nodes_[i]] == i + 1) {
        nodes.push_back(nodes_[i]);
      }
    }
  }

 private:
  std::vector<std::uint32_t> nodes_;
  std::vector<std::size_t> last_;  // by node: the length of the log with its last change
};

class EarliestQueue {
 public:
  using Entry = std::pair<Time, std::uint32_t>;

  [[nodiscard]] bool filled() const { return filled_; }
  // The log's mark at which the kept bounds were worked out.
  [[nodiscard]] std::size_t mark() const { return mark_; }

  // Starts afresh with the bounds of all nodes, of which the earliest quarter is kept; all, when
  // that was not enough.
  void Fill(std::vector<Entry> bounds, std::size_t mark);
  // Begins a cycle: every kept bound counts again but those of nodes that changed since, whose
  // bounds are given.
  void Restart(const std::vector<Entry>& changed);
  // The same, and the bounds given are kept from now on.
  void Renew(const std::vector<Entry>& changed, const ChangeLog& log);

  // The earliest bound; kFarFuture when there is none.
  [[nodiscard]] Time Next(const ChangeLog& log);
  // True when nodes that are not kept may come before the others: Fill has to be called.
  [[nodiscard]] bool Spent() const;
  // Takes out the earliest. REQUIRES: Next() is not kFarFuture, and not Spent().
  Entry Pop(const ChangeLog& log);
  void Push(const Entry& entry);

 private:
  void SkipChanged(const ChangeLog& log);

  bool filled_ = false;
  std::size_t mark_ = 0;
  std::vector<Entry> kept_;   // sorted
  std::size_t at_ = 0;        // of the kept: the first that has not been popped
  std::vector<Entry> heap_;   // pushed in this cycle, the earliest on top
  Time beyond_ = kFarFuture;  // the earliest bound of those that are not kept
};

}  // namespace muster::core
