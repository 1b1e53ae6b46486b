// Which nodes have room for a job at one moment, and which of them it gets.
#include <algorithm>

#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/nodes/node_choice.h"
#include "scheduler/core/place/nodes/tree_choice.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/plan/availability/availability.h"

namespace muster {

std::uint32_t Availability::CountNow(const Need& need, std::uint32_t tasks,
                                     std::uint32_t most) const {
  const Shape& shape = ShapeOf(need);
  const Time end = NeededUntil(snapshot_->now, need.duration);
  std::uint32_t count = 0;
  for (std::uint32_t node = 0; node < timelines_.size() && count < most; ++node) {
    if (IsOpenAt(node, need, snapshot_->now) &&
        Room(need, shape, node, LeastFree(node, end)) >= tasks) {
      ++count;
    }
  }
  return count;
}

std::vector<CandidateNode> Availability::CandidatesAt(const Need& need, const Shape& shape,
                                                      Time start) const {
  const Time end = NeededUntil(start, need.duration);
  const bool now = start == snapshot_->now;
  std::vector<CandidateNode> candidates;
  candidates.reserve(timelines_.size());
  struct {
    std::uint32_t capacity = UINT32_MAX;
    FreeAmounts free;
    std::uint32_t room = 0;
  } last;  // many nodes in a row are alike
  for (std::uint32_t node = 0; node < timelines_.size(); ++node) {
    if (!IsOpenAt(node, need, start)) {
      continue;
    }
    const FreeAmounts free = now ? LeastFree(node, end) : timelines_[node].Least(start, end);
    if (capacity_of_[node] != last.capacity || free != last.free) {
      last = {capacity_of_[node], free, Room(need, shape, node, free)};
    }
    if (last.room > 0) {
      candidates.push_back(Candidate(node, last.room));
    }
  }
  return candidates;
}

std::vector<NodeShare> Availability::SpreadAt(const Need& need, const Shape& shape,
                                              Time start) const {
  return ChooseNodes(CandidatesAt(need, shape, start), *need.request, tree());
}

bool Availability::LieAsAsked(const Need& need, const std::vector<NodeShare>& shares) const {
  const ResourceRequest& request = *need.request;
  const bool asks = request.switches > 0 || IsInSegments(request);
  return !asks || !tree_.has_value() || muster::LieAsAsked(shares, request, *tree_);
}

std::uint64_t Availability::RoomOnSwitches(const Need& need) const {
  return RoomOnLeaves(CandidatesAt(need, ShapeOf(need), snapshot_->now), *need.request, *tree_);
}

std::optional<std::uint32_t> Availability::TightestNode(const Need& need) const {
  const std::vector<std::uint32_t> nodes = WithRoomNow(need, 1);
  return nodes.empty() ? std::nullopt : std::optional(nodes.front());
}

std::vector<std::uint32_t> Availability::WithRoomNow(const Need& need, std::size_t most) const {
  const Shape& shape = ShapeOf(need);
  std::vector<std::uint32_t> nodes;
  const std::uint32_t tasks = need.request->tasks;
  if (MostTasksOnNode(*need.request) < tasks) {
    return nodes;
  }
  const Time end = NeededUntil(snapshot_->now, need.duration);
  const std::uint32_t gpus =
      shape.scales.empty() ? 0 : shape.scales[0].fixed.gpus + shape.scales[0].each.gpus * tasks;
  for (auto bucket = by_free_.begin(); bucket != by_free_.end(); ++bucket) {
    if (bucket->first[1] < gpus || bucket->first[2] < shape.least_cores) {
      continue;
    }
    for (const std::uint32_t node : bucket->second) {
      if (Room(need, shape, node, present_[node].free) >= tasks &&
          IsOpenAt(node, need, snapshot_->now) &&
          Room(need, shape, node, LeastFree(node, end)) >= tasks) {
        nodes.push_back(node);
        if (nodes.size() == most) {
          return nodes;
        }
      }
    }
  }
  return nodes;
}

std::vector<NodeShare> Availability::Spread(const Need& need,
                                            const std::vector<std::uint32_t>& room) const {
  std::vector<CandidateNode> candidates;
  candidates.reserve(room.size());
  for (std::uint32_t node = 0; node < room.size(); ++node) {
    if (room[node] > 0) {
      candidates.push_back(Candidate(node, room[node]));
    }
  }
  return ChooseNodes(std::move(candidates), *need.request, tree());
}

std::vector<NodeShare> Availability::Contract(const Need& need, std::vector<NodeShare> able) const {
  std::stable_sort(able.begin(), able.end(),
                   [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  std::vector<CandidateNode> candidates;
  for (const NodeShare& share : able) {
    if (candidates.empty() || candidates.back().position != share.node) {
      candidates.push_back(Candidate(share.node, share.tasks));
    }
  }
  return ChooseNodes(std::move(candidates), *need.request, tree());
}

}  // namespace muster
