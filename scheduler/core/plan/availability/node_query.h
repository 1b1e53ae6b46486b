#pragma once

// One need, asked of the nodes: which of them are open to it, how many of its tasks each takes, and
// which it gets at one moment.
//
// Made for one question after the other, and cheap to make. Thread promise: pure but for what
// ClusterTimelines remembers. Invariants: (1) the answer depends on the timelines and the need
// alone; (2) ties go to nodes that keep what the job wants, then to the lower node.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/core/place/nodes/candidate.h"
#include "scheduler/core/place/nodes/node_timeline.h"
#include "scheduler/core/plan/availability/cluster_timelines.h"
#include "scheduler/core/plan/availability/need.h"
#include "scheduler/core/plan/availability/shape_demand.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

class NodeQuery {
 public:
  // REQUIRES: all outlive it; `demand` is of the need's shape.
  NodeQuery(const ClusterTimelines& nodes, const Need& need, const ShapeDemand& demand)
      : nodes_(nodes), need_(need), demand_(demand) {}

  [[nodiscard]] const ClusterTimelines& nodes() const { return nodes_; }
  [[nodiscard]] const Need& need() const { return need_; }
  [[nodiscard]] const ShapeDemand& demand() const { return demand_; }

  // True when the node is up, not drained and open to the job.
  [[nodiscard]] bool IsOpen(std::uint32_t node) const {
    return IsOpenToShape(node) && (need_.barred == nullptr || !(*need_.barred)[node]);
  }
  // The same for all needs of the shape: what is remembered of a shape leaves no barred node out.
  [[nodiscard]] bool IsOpenToShape(std::uint32_t node) const {
    return nodes_.inventory().usable(node) && (need_.allowed == nullptr || (*need_.allowed)[node]);
  }
  // The same at that time, reservations considered.
  [[nodiscard]] bool IsOpenAt(std::uint32_t node, Time start) const {
    return IsOpen(node) && OpenFrom(node, start) == start;
  }
  // The first time from `start` on at which no reservation is in the way.
  [[nodiscard]] Time OpenFrom(std::uint32_t node, Time start) const {
    return need_.reserved == nullptr ? start
                                     : need_.reserved->OpenFrom(node, start, need_.duration);
  }

  // What that many tasks take of the node.
  [[nodiscard]] NodeDemand DemandOn(std::uint32_t node, std::uint32_t tasks) const;
  // How many tasks the node takes of these amounts.
  [[nodiscard]] std::uint32_t Room(std::uint32_t node, const FreeAmounts& free) const;
  // The same when nothing is taken now; 0 where the node is not open to the shape.
  [[nodiscard]] std::uint32_t UntakenRoom(std::uint32_t node) const;
  // The first time from `from` on at which the node, with this timeline, takes that many tasks for
  // the job's whole time.
  [[nodiscard]] Time EarliestOn(const NodeTimeline& timeline, std::uint32_t node,
                                std::uint32_t tasks, Time from) const;

  // Where the job can start now and run for its whole time: the tightest node that takes all of it,
  // else the nodes of the smallest span, the fewest nodes where the network is not known.
  [[nodiscard]] std::optional<Opening> FindNow() const;
  // The same, among the few nodes that have room for a task when nothing is taken.
  [[nodiscard]] std::optional<Opening> FindNowAmong(const std::vector<NodeShare>& able) const;
  // The nodes that it gets at that time, for its whole time; none when it does not fit.
  [[nodiscard]] std::vector<NodeShare> SpreadAt(Time start) const;
  // The fewest nodes with room for all tasks, of the lightest that do; `room` is by node.
  [[nodiscard]] std::vector<NodeShare> Spread(const std::vector<std::uint32_t>& room) const;
  // Those of the smallest span; of nodes that are named twice the first counts.
  [[nodiscard]] std::vector<NodeShare> Contract(std::vector<NodeShare> able) const;

  // How many nodes could take that many tasks each, now and for the job's whole time; at most
  // `most`.
  [[nodiscard]] std::uint32_t CountNow(std::uint32_t tasks, std::uint32_t most) const;
  // Nodes, at most `most`, that could take all tasks now for the job's whole time, in the order in
  // which FindNow looks for one; of the first `looks` alone.
  [[nodiscard]] std::vector<std::uint32_t> WithRoomNow(std::size_t most,
                                                       std::size_t looks = SIZE_MAX) const;
  // How many tasks find room now on as many leaf switches as the job asks for. REQUIRES: the
  // snapshot has a network.
  [[nodiscard]] std::uint64_t RoomOnSwitches() const;
  // Whether these nodes take these tasks from then on for the job's whole time.
  [[nodiscard]] bool Fits(const Opening& opening) const;
  // Whether the shares are on as few leaf switches as the job asks for, in its segments, and off
  // narrow links.
  [[nodiscard]] bool LieAsAsked(const std::vector<NodeShare>& shares) const;
  // Appends the times at which something changes on the nodes that are open to the job.
  void AppendTimes(std::vector<Time>& times) const;

 private:
  // The nodes that take some of the tasks at that time and for the job's whole time.
  [[nodiscard]] std::vector<CandidateNode> CandidatesAt(Time start) const;
  // REQUIRES: they stand in the order of positions.
  [[nodiscard]] std::vector<NodeShare> Choose(std::vector<CandidateNode> candidates) const;

  const ClusterTimelines& nodes_;
  const Need& need_;
  const ShapeDemand& demand_;
};

// What FindNow gives where the job may lie on one node, if that is among the first `looks` nodes
// that may take all of it.
[[nodiscard]] std::optional<Opening> FindOnOneNow(const NodeQuery& query, std::size_t looks);

}  // namespace muster::core
