#pragma once

// When and where a job could start: the nodes' timelines, searched without looking at every node
// for every job.
//
// One pass at a time owns it; each start and each reservation is taken out of it. Nodes that are
// down or drained are not in it. A later snapshot of the same nodes is moved to, so that only what
// changed is worked out again. Thread promise: none; owned by one pass at a time. Invariants: (1)
// amounts only fall during a pass, so an earliest time once found is a lower bound until it ends;
// (2) the answer depends on the snapshot and the calls since alone, never on the snapshots before;
// ties go to the lower node id.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/core/place/nodes/candidate.h"
#include "scheduler/core/place/nodes/node_room.h"
#include "scheduler/core/place/nodes/node_timeline.h"
#include "scheduler/core/place/nodes/node_tree.h"
#include "scheduler/core/plan/availability/earliest_queue.h"
#include "scheduler/core/plan/availability/free_in_all.h"
#include "scheduler/core/plan/availability/need.h"
#include "scheduler/core/policy/reserved_nodes.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster {

class Availability {
 public:
  // REQUIRES: the snapshot outlives it.
  explicit Availability(const Snapshot& snapshot);

  // On to a later snapshot, with nothing taken. False when more differs than what runs on the
  // nodes: then this is of no more use. REQUIRES: both snapshots live, and shapes mean the same.
  [[nodiscard]] bool MoveTo(const Snapshot& next);

  // Where the job can start now and run for its whole time: the tightest node that takes all of it,
  // else the nodes of the smallest span, the fewest nodes where the network is not known.
  [[nodiscard]] std::optional<Opening> FindNow(const Need& need) const;
  // The same at a later time, also on several nodes.
  [[nodiscard]] std::optional<Opening> FindAt(const Need& need, Time start) const;
  // How many nodes could take that many tasks each, now and for the job's whole time; at most
  // `most`.
  [[nodiscard]] std::uint32_t CountNow(const Need& need, std::uint32_t tasks,
                                       std::uint32_t most) const;
  // The earliest opening from that time on; at kHorizon when it hangs on a job without a limit, at
  // kFarFuture, without nodes, when not even then is there room. Nothing when the nodes that are up
  // never hold it.
  std::optional<Opening> FindEarliest(const Need& need) {
    return FindEarliest(need, snapshot_->now);
  }
  std::optional<Opening> FindEarliest(const Need& need, Time from);
  // The same if it begins before that time; else nothing.
  std::optional<Opening> FindEarlier(const Need& need, Time from, Time before);
  // Whether the nodes that are up hold the job when nothing else runs.
  bool EverFits(const Need& need);
  // Null where the network is not known.
  [[nodiscard]] const NodeTree* tree() const { return tree_.has_value() ? &*tree_ : nullptr; }
  // The leaf switch of the node; the same for all where the network is not known.
  [[nodiscard]] std::uint32_t LeafOf(std::uint32_t node) const {
    return tree_.has_value() ? tree_->LeafOf(node) : 0;
  }
  // Whether the shares are on as few leaf switches as the job asks for, and in its segments.
  [[nodiscard]] bool LieAsAsked(const Need& need, const std::vector<NodeShare>& shares) const;
  // How many of its tasks find room now on as many leaf switches as the job asks for. REQUIRES: the
  // snapshot has a network.
  [[nodiscard]] std::uint64_t RoomOnSwitches(const Need& need) const;
  // Whether these nodes take these tasks from then on for the job's whole time.
  [[nodiscard]] bool Fits(const Need& need, const Opening& opening) const;
  void Take(const Need& need, const Opening& opening);
  // Takes that many cores of the node in [from, until).
  void TakeCores(std::uint32_t node, std::uint32_t cores, Time from, Time until);
  // In [from, until) a GPU of the model of which no job had a share becomes one of which a job has.
  void BreakGpu(std::uint32_t node, std::size_t model, Time from, Time until);
  // Nodes, at most `most`, that could take all tasks now for the job's whole time, in the order in
  // which FindNow looks for one.
  [[nodiscard]] std::vector<std::uint32_t> WithRoomNow(const Need& need, std::size_t most) const;
  // The node is as its timeline says again: undoes Take. Only after a trial in which nothing but
  // FindNow, FindAt, Fits and Take was asked.
  void Restore(std::uint32_t node, NodeTimeline timeline);
  // Appends the times at which something changes on the nodes that are open to the job.
  void AppendTimes(const Need& need, std::vector<Time>& times) const;
  // How many of the job's tasks the node takes now and for its whole time if the jobs with these
  // holdings were gone.
  [[nodiscard]] std::uint32_t RoomWithout(const Need& need, std::uint32_t node,
                                          const std::vector<const Holding*>& holdings) const;
  // As Take, where the jobs with these holdings, by node, are preempted: what they leave beyond the
  // need is free only once they are gone.
  void TakeInPlaceOf(const std::map<std::uint32_t, std::vector<const Holding*>>& holdings,
                     const Need& need, const Opening& opening);

  [[nodiscard]] const NodeTimeline& timeline(std::uint32_t node) const { return timelines_[node]; }
  [[nodiscard]] const NodeCapacity& capacity(std::uint32_t node) const {
    return capacities_[capacity_of_[node]];
  }
  // True when the node is up, not drained and open to the job.
  [[nodiscard]] bool IsOpen(std::uint32_t node, const Need& need) const {
    return usable_[node] && (need.allowed == nullptr || (*need.allowed)[node]) &&
           !IsBarred(node, need);
  }
  // The same at that time, reservations considered.
  [[nodiscard]] bool IsOpenAt(std::uint32_t node, const Need& need, Time start) const {
    return IsOpen(node, need) && OpenFrom(node, need, start) == start;
  }

 private:
  // A job's parts of one size: a number of nodes with equally many tasks.
  struct Part {
    std::uint32_t tasks = 0;
    std::uint32_t nodes = 0;
    EarliestQueue queue;  // nodes by when they take such a part
  };
  // Nodes with room for a task now when nothing is taken, and how many tasks: all of them, or, when
  // there are too many to keep, none.
  struct RoomNow {
    bool known = false;
    bool many = false;
    std::size_t mark = 0;
    std::vector<NodeShare> nodes;  // by position
  };
  // A node as it is now: all that most looks at it need, and close together in memory.
  struct Present {
    FreeAmounts free;
    std::uint32_t weight = 0;
    bool least = false;  // never less of anything is free later
  };
  // What is worked out once for all jobs of a shape.
  struct Shape {
    std::vector<DemandScale> scales;         // by capacity
    std::uint32_t least_cores = UINT32_MAX;  // that all tasks take on one node, on any capacity
    std::uint32_t least_gpus = UINT32_MAX;   // the same
    std::optional<std::vector<Part>> parts;
    bool lasting = false;  // the parts are the same whatever runs
    RoomNow room_now;      // where no reservation is in the way
    std::uint64_t pass = 0;
  };

  [[nodiscard]] static bool IsBarred(std::uint32_t node, const Need& need) {
    return need.barred != nullptr && (*need.barred)[node];
  }
  [[nodiscard]] static Time OpenFrom(std::uint32_t node, const Need& need, Time start) {
    return need.reserved == nullptr ? start : need.reserved->OpenFrom(node, start, need.duration);
  }
  // The first time from `from` on at which the node, with this timeline, takes that many tasks for
  // the job's whole time.
  [[nodiscard]] Time EarliestOn(const NodeTimeline& timeline, const Need& need, const Shape& shape,
                                std::uint32_t node, std::uint32_t tasks, Time from) const;
  // The node's timeline as it was before anything was taken of it.
  [[nodiscard]] const NodeTimeline& Untaken(std::uint32_t node) const;
  // The node's timeline, to take something out of. The sum over all is to be computed again then.
  NodeTimeline& Touch(std::uint32_t node);
  void Reindex(std::uint32_t node, const std::array<std::uint32_t, 3>& before);
  void GiveBack();
  void Read(std::uint32_t node);
  // Brings the node to the snapshot; false when more differs than what runs on it.
  [[nodiscard]] bool MoveNode(std::uint32_t node, const NodePicture& before);
  // What the shape knows from passes before is brought to this one.
  void Renew(const Need& need, Shape& shape) const;
  void RenewQueue(const Need& need, const Shape& shape, Part& part) const;
  void RenewRoomNow(const Need& need, Shape& shape) const;
  void FindRoomNow(const Need& need, Shape& shape) const;
  [[nodiscard]] std::uint32_t UntakenRoom(const Need& need, const Shape& shape,
                                          std::uint32_t node) const;
  [[nodiscard]] std::optional<Opening> FindAmong(const Need& need, const Shape& shape) const;
  [[nodiscard]] NodeTimeline TimelineWithout(std::uint32_t node,
                                             const std::vector<const Holding*>& holdings) const;
  std::uint32_t InternCapacity(const Machine& machine);
  [[nodiscard]] std::array<std::uint32_t, 3> KeyOf(std::uint32_t node) const;
  void Index(std::uint32_t node);
  void Note(std::uint32_t node);
  [[nodiscard]] CandidateNode Candidate(std::uint32_t node, std::uint32_t room) const;
  // What is free of the node for all of [now, end).
  [[nodiscard]] FreeAmounts LeastFree(std::uint32_t node, Time end) const;
  Shape& ShapeOf(const Need& need) const;
  [[nodiscard]] NodeDemand Demand(const Shape& shape, std::uint32_t node,
                                  std::uint32_t tasks) const;
  [[nodiscard]] std::uint32_t Room(const Need& need, const Shape& shape, std::uint32_t node,
                                   const FreeAmounts& free) const;
  [[nodiscard]] std::optional<std::uint32_t> TightestNode(const Need& need) const;
  // The nodes that take some of the tasks at that time and for the job's whole time.
  [[nodiscard]] std::vector<CandidateNode> CandidatesAt(const Need& need, const Shape& shape,
                                                        Time start) const;
  // The fewest nodes with room for all tasks, of the lightest that do; `room` is by node.
  [[nodiscard]] std::vector<NodeShare> Spread(const Need& need,
                                              const std::vector<std::uint32_t>& room) const;
  [[nodiscard]] std::vector<NodeShare> SpreadAt(const Need& need, const Shape& shape,
                                                Time start) const;
  // The earliest time in [from, before) at which the tasks fit in some other division over nodes.
  [[nodiscard]] std::optional<Opening> FindUneven(const Need& need, Time from, Time before);
  // The same, where the times of reservations count too.
  [[nodiscard]] std::optional<Opening> FindUnevenBeside(const Need& need, Time from,
                                                        Time before) const;
  // One opening for the parts into which an empty cluster would divide the tasks; without nodes
  // where they are then on more switches than the job asks for. At kFarFuture, without nodes, where
  // there is none before that time.
  Opening GatherParts(const Need& need, Shape& shape, Time from, Time before);
  // Those of the smallest span; of nodes that are named twice the first counts.
  [[nodiscard]] std::vector<NodeShare> Contract(const Need& need,
                                                std::vector<NodeShare> able) const;
  void FindParts(const Need& need, Shape& shape) const;
  void FillQueue(const Need& need, const Shape& shape, Part& part) const;
  // The earliest time from `from` on at which enough nodes outside `used` take the part; which do
  // then, in order.
  std::optional<Time> Gather(const Need& need, const Shape& shape, Part& part, Time from,
                             Time before, const std::set<std::uint32_t>& used,
                             std::vector<std::uint32_t>& fitting);
  // What is free of all nodes together, as their timelines are now.
  const FreeInAll& InAll();
  // FindEarliest and FindEarlier. REQUIRES: EverFits.
  Opening Search(const Need& need, Time from, Time before);
  // What all its tasks take at the least, wherever they are.
  [[nodiscard]] static AmountsInAll LeastOf(const Shape& shape) {
    return {shape.least_cores, shape.least_gpus};
  }

  const Snapshot* snapshot_;
  std::optional<NodeTree> tree_;  // of the snapshot's network
  std::uint64_t pass_ = 1;
  std::vector<bool> usable_;  // by node
  std::vector<NodeCapacity> capacities_;
  std::vector<std::uint32_t> capacity_of_;  // by node
  std::vector<NodeTimeline> timelines_;     // by node
  std::vector<Present> present_;            // by node: as its timeline begins
  std::vector<Time> first_end_;             // by node: of what runs on it; kFarFuture for never
  std::set<std::pair<Time, std::uint32_t>> ends_;  // those that are not never
  std::vector<std::uint32_t> taken_at_;  // by node: its place in `untaken_`, counted from 1; or 0
  std::vector<std::pair<std::uint32_t, NodeTimeline>> untaken_;  // of the nodes taken of
  ChangeLog changes_;
  FreeInAll in_all_;  // of the timelines; filled when it is asked
  // Usable nodes by weight and what is free now, (weight, GPUs, cores): the lightest come first,
  // of those the tightest.
  std::map<std::array<std::uint32_t, 3>, std::set<std::uint32_t>> by_free_;
  mutable std::unordered_map<std::uint64_t, Shape> shapes_;
};

}  // namespace muster
