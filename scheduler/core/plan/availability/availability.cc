#include "scheduler/core/plan/availability/availability.h"

#include <utility>

#include "scheduler/core/place/nodes/task_capacity.h"

namespace muster::core {
namespace {

// At how many nodes a job looks before those with room for its shape are listed.
constexpr std::size_t kFirstLooks = 16;

}  // namespace

bool Availability::MoveTo(const Snapshot& next) {
  ++cycle_;
  ++changes_;
  return nodes_.MoveTo(next);
}

Availability::Shape& Availability::ShapeOf(const Need& need) const {
  Shape& shape = shapes_[need.shape];
  shape.demand.Extend(need, inventory().classes());
  if (shape.cycle != cycle_) {
    shape.cycle = cycle_;
    const NodeQuery query(nodes_, need, shape.demand);
    shape.earliest.Renew(query);
  }
  return shape;
}

NodeQuery Availability::PlainQueryOf(const Need& need) const {
  static const ShapeDemand kNone;
  return {nodes_, need, kNone};
}

std::optional<Opening> Availability::FindNow(const Need& need) const {
  Shape& shape = ShapeOf(need);
  const NodeQuery query(nodes_, need, shape.demand);
  if (need.reserved == nullptr) {
    // A job that finds its node at once needs no list of them all.
    if (std::optional<Opening> opening = FindOnOneNow(query, kFirstLooks)) {
      return opening;
    }
    if (shape.room_cycle != cycle_) {
      shape.room_cycle = cycle_;
      shape.room_now.Renew(query);
    }
    if (!shape.room_now.known()) {
      shape.room_now.Find(query);
    }
    if (!shape.room_now.many()) {
      return query.FindNowAmong(shape.room_now.nodes());
    }
  }
  return query.FindNow();
}

std::optional<Opening> Availability::FindAt(const Need& need, Time start) const {
  Opening opening{start, QueryOf(need).SpreadAt(start)};
  return opening.shares.empty() ? std::nullopt : std::optional(std::move(opening));
}

std::uint32_t Availability::CountNow(const Need& need, std::uint32_t tasks,
                                     std::uint32_t most) const {
  return QueryOf(need).CountNow(tasks, most);
}

std::vector<std::uint32_t> Availability::WithRoomNow(const Need& need, std::size_t most) const {
  return QueryOf(need).WithRoomNow(most);
}

std::uint64_t Availability::RoomOnSwitches(const Need& need) const {
  return QueryOf(need).RoomOnSwitches();
}

std::uint32_t Availability::RoomWithout(const Need& need, std::uint32_t node,
                                        const std::vector<const Holding*>& holdings) const {
  const Time now = inventory().now();
  return QueryOf(need).Room(
      node, nodes_.Without(node, holdings).Least(now, NeededUntil(now, need.duration)));
}

std::optional<Opening> Availability::FindEarliest(const Need& need, Time from) {
  Shape& shape = ShapeOf(need);
  const NodeQuery query(nodes_, need, shape.demand);
  return shape.earliest.EverFits(query)
             ? std::optional(shape.earliest.Find(query, from, kFarFuture))
             : std::nullopt;
}

std::optional<Opening> Availability::FindEarlier(const Need& need, Time from, Time before) {
  Shape& shape = ShapeOf(need);
  const NodeQuery query(nodes_, need, shape.demand);
  if (!shape.earliest.EverFits(query)) {
    return std::nullopt;
  }
  Opening opening = shape.earliest.Find(query, from, before);
  return opening.start < before && !opening.shares.empty() ? std::optional(std::move(opening))
                                                           : std::nullopt;
}

bool Availability::EverFits(const Need& need) {
  Shape& shape = ShapeOf(need);
  return shape.earliest.EverFits(NodeQuery(nodes_, need, shape.demand));
}

bool Availability::Fits(const Need& need, const Opening& opening) const {
  return QueryOf(need).Fits(opening);
}

void Availability::Take(const Need& need, const Opening& opening) {
  ++changes_;
  const NodeQuery query = QueryOf(need);
  std::vector<NodeDemand> demands;
  demands.reserve(opening.shares.size());
  for (const NodeShare& share : opening.shares) {
    demands.push_back(query.DemandOn(share.node, share.tasks));
  }
  nodes_.Take(opening, demands, EndOf(opening.start, need.duration));
}

void Availability::Lend(const Need& need, const Opening& opening) {
  ++changes_;
  const NodeQuery query = QueryOf(need);
  for (const NodeShare& share : opening.shares) {
    nodes_.LendOn(share.node, query.DemandOn(share.node, share.tasks), opening.start,
                  EndOf(opening.start, need.duration));
  }
}

void Availability::TakeCores(std::uint32_t node, std::uint32_t cores, Time from, Time until) {
  NodeDemand demand;
  demand.cores = cores;
  ++changes_;
  if (from < until) {
    nodes_.TakeOn(node, demand, from, until);
  }
}

void Availability::LeaveOff(std::uint32_t node) {
  TakeCores(node, inventory().capacity(node).all.cores,
            ReadyAt(inventory().snapshot().nodes[node], inventory().now()), kHorizon);
}

void Availability::TakeInPlaceOf(
    const std::map<std::uint32_t, std::vector<const Holding*>>& holdings, const Need& need,
    const Opening& opening) {
  ++changes_;
  const NodeQuery query = QueryOf(need);
  const Time end = EndOf(opening.start, need.duration);
  const std::vector<const Holding*> none;
  for (const NodeShare& share : opening.shares) {
    const auto here = holdings.find(share.node);
    nodes_.TakeInPlaceOf(here == holdings.end() ? none : here->second, share.node,
                         query.DemandOn(share.node, share.tasks), opening.start, end);
  }
}

void Availability::Restore(NodesBefore before, bool asked_more) {
  ++changes_;
  for (auto& [node, timeline] : before) {
    nodes_.Restore(node, std::move(timeline));
  }
  cycle_ += asked_more ? 1 : 0;
}

}  // namespace muster::core
