#pragma once

// What is free of every node from now on, with indexes of what is free now and of all together.
//
// One cycle at a time owns it; what the cycle plans is taken out of it. It moves on to a later
// snapshot of the same nodes by reading those again on which something differs. Thread promise:
// none; owned by one cycle at a time. Invariants: (1) after MoveTo it is as if newly made of the
// snapshot, but for the log of changes; (2) the indexes are of the timelines as they are.

#include <cstdint>
#include <vector>

#include "scheduler/core/place/nodes/candidate.h"
#include "scheduler/core/place/nodes/node_timeline.h"
#include "scheduler/core/place/nodes/task_capacity.h"
#include "scheduler/core/plan/availability/aggregate_free.h"
#include "scheduler/core/plan/availability/first_ends.h"
#include "scheduler/core/plan/availability/free_index.h"
#include "scheduler/core/plan/availability/lower_bound_heap.h"
#include "scheduler/core/plan/availability/need.h"
#include "scheduler/core/plan/availability/node_inventory.h"
#include "scheduler/core/plan/availability/untaken_timelines.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

class ClusterTimelines {
 public:
  // REQUIRES: the snapshot outlives it.
  explicit ClusterTimelines(const Snapshot& snapshot);

  // On to a later snapshot, with nothing taken. False when more differs than what runs on the
  // nodes: then this is of no more use. REQUIRES: both snapshots live.
  [[nodiscard]] bool MoveTo(const Snapshot& next);

  [[nodiscard]] const NodeInventory& inventory() const { return inventory_; }
  [[nodiscard]] const NodeTimeline& timeline(std::uint32_t node) const { return timelines_[node]; }
  // The node's timeline as it was before anything was taken of it.
  [[nodiscard]] const NodeTimeline& Untaken(std::uint32_t node) const {
    const NodeTimeline* before = untaken_.Find(node);
    return before == nullptr ? timelines_[node] : *before;
  }
  [[nodiscard]] const UntakenTimelines& untaken() const { return untaken_; }
  // The node's timeline if the jobs with these holdings were gone.
  [[nodiscard]] NodeTimeline Without(std::uint32_t node,
                                     const std::vector<const Holding*>& holdings) const;

  [[nodiscard]] const FreeAmounts& FreeNow(std::uint32_t node) const { return present_[node].free; }
  // What is free of the node for all of [now, end).
  [[nodiscard]] FreeAmounts LeastFree(std::uint32_t node, Time end) const;
  [[nodiscard]] FreeIndex::Key KeyOf(std::uint32_t node) const;
  [[nodiscard]] CandidateNode Candidate(std::uint32_t node, std::uint32_t room) const;
  // The usable nodes.
  [[nodiscard]] const FreeIndex& by_free() const { return by_free_; }
  // What is free of all usable nodes together.
  [[nodiscard]] const FreeInAll& InAll() const;
  // The nodes that differed from one snapshot to the next.
  [[nodiscard]] const ChangeLog& changes() const { return changes_; }

  // Takes the demands, one for each share of the opening, from its start until `end`.
  void Take(const Opening& opening, const std::vector<NodeDemand>& demands, Time end);
  void TakeOn(std::uint32_t node, const NodeDemand& demand, Time from, Time until);
  // The demand is free again in [from, until), for a trial; not GPUs of which several models do.
  void LendOn(std::uint32_t node, const NodeDemand& demand, Time from, Time until);
  // As TakeOn, where the jobs with these holdings are preempted: what they leave beyond the demand
  // is free only once they are gone.
  void TakeInPlaceOf(const std::vector<const Holding*>& holdings, std::uint32_t node,
                     const NodeDemand& demand, Time from, Time until);
  // In [from, until) a GPU of the model of which no job had a share becomes one of which a job has.
  void BreakGpu(std::uint32_t node, std::size_t model, Time from, Time until);
  // The node is as its timeline says again: undoes Take.
  void Restore(std::uint32_t node, NodeTimeline timeline);

 private:
  // A node as it is now: all that most looks at it need, and close together in memory.
  struct Present {
    FreeAmounts free;
    std::uint32_t weight = 0;
    bool least = false;  // never less of anything is free later
  };

  void Read(std::uint32_t node);
  void Note(std::uint32_t node);
  // The node has been under the key `before`.
  void Reindex(std::uint32_t node, const FreeIndex::Key& before);
  // Brings the node to the snapshot; false when more differs than what runs on it.
  [[nodiscard]] bool MoveNode(std::uint32_t node, const NodeSnapshot& before);
  // The node's timeline, to take something out of. The sum over all is to be computed again then.
  NodeTimeline& Touch(std::uint32_t node);
  void GiveBack();

  NodeInventory inventory_;
  std::vector<NodeTimeline> timelines_;  // by node
  std::vector<Present> present_;         // by node: as its timeline begins
  FirstEnds first_ends_;
  UntakenTimelines untaken_;
  ChangeLog changes_;
  mutable FreeInAll in_all_;  // of the timelines; filled when it is asked
  FreeIndex by_free_;
};

}  // namespace muster::core
