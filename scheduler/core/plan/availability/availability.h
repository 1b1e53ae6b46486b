#pragma once

// When and where a job could start: the nodes' timelines, searched without looking at every node
// for every job.
//
// One cycle at a time owns it; each start and each reservation is taken out of it. `NodeQuery`
// answers for one moment, `EarliestSearch` over time; what they find for one job is remembered for
// all of its shape. Nodes that are down or drained are not in it. Thread promise: none; owned by
// one cycle at a time. Invariants: (1) amounts only fall during a cycle, so an earliest time once
// found is a lower bound until it ends; (2) the answer depends on the snapshot and the calls since
// alone, never on the snapshots before; ties go to the lower node id.

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "scheduler/core/place/nodes/candidate.h"
#include "scheduler/core/place/nodes/node_timeline.h"
#include "scheduler/core/plan/availability/cluster_timelines.h"
#include "scheduler/core/plan/availability/earliest_search.h"
#include "scheduler/core/plan/availability/need.h"
#include "scheduler/core/plan/availability/node_inventory.h"
#include "scheduler/core/plan/availability/node_query.h"
#include "scheduler/core/plan/availability/room_now.h"
#include "scheduler/core/plan/availability/shape_demand.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// Nodes as they were.
using NodesBefore = std::map<std::uint32_t, NodeTimeline>;

class Availability {
 public:
  // REQUIRES: the snapshot outlives it.
  explicit Availability(const Snapshot& snapshot) : nodes_(snapshot) {}

  // On to a later snapshot, with nothing taken. False when more differs than what runs on the
  // nodes: then this is of no more use. REQUIRES: both snapshots live, and shapes mean the same.
  [[nodiscard]] bool MoveTo(const Snapshot& next);

  [[nodiscard]] const NodeInventory& inventory() const { return nodes_.inventory(); }
  [[nodiscard]] const NodeTimeline& timeline(std::uint32_t node) const {
    return nodes_.timeline(node);
  }

  // Where the job can start now and run for its whole time: the tightest node that takes all of it,
  // else the nodes of the smallest span, the fewest nodes where the network is not known.
  [[nodiscard]] std::optional<Opening> FindNow(const Need& need) const;
  // The same at a later time, also on several nodes.
  [[nodiscard]] std::optional<Opening> FindAt(const Need& need, Time start) const;
  // How many nodes could take that many tasks each, now and for the job's whole time; at most
  // `most`.
  [[nodiscard]] std::uint32_t CountNow(const Need& need, std::uint32_t tasks,
                                       std::uint32_t most) const;
  // Nodes, at most `most`, that could take all tasks now for the job's whole time, in the order in
  // which FindNow looks for one.
  [[nodiscard]] std::vector<std::uint32_t> WithRoomNow(const Need& need, std::size_t most) const;
  // How many of its tasks find room now on as many leaf switches as the job asks for. REQUIRES: the
  // snapshot has a network.
  [[nodiscard]] std::uint64_t RoomOnSwitches(const Need& need) const;
  // How many of the job's tasks the node takes now and for its whole time if the jobs with these
  // holdings were gone.
  [[nodiscard]] std::uint32_t RoomWithout(const Need& need, std::uint32_t node,
                                          const std::vector<const Holding*>& holdings) const;

  // The earliest opening from that time on; at kHorizon when it hangs on a job without a limit, at
  // kFarFuture, without nodes, when not even then is there room. Nothing when the nodes that are up
  // never hold it.
  std::optional<Opening> FindEarliest(const Need& need, Time from);
  // The same if it begins before that time; else nothing.
  std::optional<Opening> FindEarlier(const Need& need, Time from, Time before);
  // Whether the nodes that are up hold the job when nothing else runs.
  bool EverFits(const Need& need);

  // For questions in which what the job takes of a node is not asked. REQUIRES: this outlives it.
  [[nodiscard]] NodeQuery PlainQueryOf(const Need& need) const;
  // Whether these nodes take these tasks from then on for the job's whole time.
  [[nodiscard]] bool Fits(const Need& need, const Opening& opening) const;
  // Counts what was taken and given back: while it stays the same, so do all answers.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

  void Take(const Need& need, const Opening& opening);
  // Gives back what Take took for the opening, for a trial that ends with Restore of its nodes. Of
  // GPUs only where one model will do.
  void Lend(const Need& need, const Opening& opening);
  // Takes that many cores of the node in [from, until).
  void TakeCores(std::uint32_t node, std::uint32_t cores, Time from, Time until);
  // No job is planned on the node, which is off.
  void LeaveOff(std::uint32_t node);
  // As Take, where the jobs with these holdings, by node, are preempted: what they leave beyond the
  // need is free only once they are gone.
  void TakeInPlaceOf(const std::map<std::uint32_t, std::vector<const Holding*>>& holdings,
                     const Need& need, const Opening& opening);
  // In [from, until) a GPU of the model of which no job had a share becomes one of which a job has.
  void BreakGpu(std::uint32_t node, std::size_t model, Time from, Time until) {
    ++changes_;
    nodes_.BreakGpu(node, model, from, until);
  }
  // These nodes are as they were again: undoes Take. `asked_more`: in the trial that ends so, other
  // things than FindNow, FindAt, Fits and Take were asked; what is remembered is worked out again.
  void Restore(NodesBefore before, bool asked_more = false);

 private:
  // What is worked out once for all jobs of a shape.
  struct Shape {
    ShapeDemand demand;
    EarliestSearch earliest;
    RoomNow room_now;  // where no reservation is in the way
    std::uint64_t cycle = 0;
    std::uint64_t room_cycle = 0;  // of `room_now`, which most jobs never ask for
  };
  Shape& ShapeOf(const Need& need) const;
  [[nodiscard]] NodeQuery QueryOf(const Need& need) const {
    return {nodes_, need, ShapeOf(need).demand};
  }

  ClusterTimelines nodes_;
  std::uint64_t cycle_ = 1;
  std::uint64_t changes_ = 0;
  mutable std::unordered_map<std::uint64_t, Shape> shapes_;
};

}  // namespace muster::core
