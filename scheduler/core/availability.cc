#include "scheduler/core/availability.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/core/feature_match.h"
#include "scheduler/core/placement.h"

namespace muster {
namespace {

// How many nodes are looked at, over all times, for a division of the tasks that starts earlier
// than the plain one. On large clusters a reservation may so be later than it need be; the job is
// still started when it fits.
constexpr std::size_t kUnevenLooks = 1U << 16;

}  // namespace

Availability::Availability(const Snapshot& snapshot) : snapshot_(snapshot) {
  const std::size_t nodes = snapshot.nodes.size();
  timelines_.reserve(nodes);
  std::map<const Machine*, std::uint32_t> known;
  for (const NodePicture& node : snapshot.nodes) {
    usable_.push_back(node.up && !node.drained);
    const auto [found, is_new] = known.emplace(node.machine.get(), 0);
    if (is_new) {
      found->second = InternCapacity(*node.machine);
    }
    capacity_of_.push_back(found->second);
    timelines_.push_back(TimelineOf(node, capacities_[found->second], snapshot.now));
    Index(static_cast<std::uint32_t>(timelines_.size()) - 1);
  }
}

std::uint32_t Availability::InternCapacity(const Machine& machine) {
  NodeCapacity capacity = CapacityOf(machine);
  const auto found = std::find(capacities_.begin(), capacities_.end(), capacity);
  if (found != capacities_.end()) {
    return static_cast<std::uint32_t>(found - capacities_.begin());
  }
  capacities_.push_back(std::move(capacity));
  return static_cast<std::uint32_t>(capacities_.size()) - 1;
}

std::array<std::uint32_t, 3> Availability::KeyOf(std::uint32_t node) const {
  const FreeAmounts& free = timelines_[node].now();
  return {snapshot_.nodes[node].weight, CountGpus(free, ~0U), free.cores};
}

void Availability::Index(std::uint32_t node) {
  if (usable_[node]) {
    by_free_[KeyOf(node)].insert(node);
  }
}

void Availability::Unindex(std::uint32_t node) {
  if (!usable_[node]) {
    return;
  }
  const auto bucket = by_free_.find(KeyOf(node));
  bucket->second.erase(node);
  if (bucket->second.empty()) {
    by_free_.erase(bucket);
  }
}

Availability::Shape& Availability::ShapeOf(const Need& need) const {
  Shape& shape = shapes_[need.shape];
  while (shape.scales.size() < capacities_.size()) {
    const NodeCapacity& capacity = capacities_[shape.scales.size()];
    shape.scales.push_back(ScaleOf(capacity, *need.request));
    shape.least_cores = std::min(
        shape.least_cores, DemandOf(capacity, shape.scales.back(), need.request->tasks).cores);
  }
  return shape;
}

NodeDemand Availability::Demand(const Shape& shape, std::uint32_t node, std::uint32_t tasks) const {
  return DemandOf(capacity(node), shape.scales[capacity_of_[node]], tasks);
}

std::uint32_t Availability::Room(const Need& need, const Shape& shape, std::uint32_t node,
                                 const FreeAmounts& free) const {
  return RoomFor(free, capacity(node), shape.scales[capacity_of_[node]],
                 MostTasksOnNode(*need.request));
}

Time Availability::EarliestOn(const Need& need, const Shape& shape, std::uint32_t node,
                              std::uint32_t tasks, Time from) const {
  const NodeDemand demand = Demand(shape, node, tasks);
  while (true) {
    const Time fits = timelines_[node].EarliestFit(demand, from, need.duration);
    from = OpenFrom(node, need, fits);
    if (from == fits || from >= kFarFuture) {
      return from;
    }
  }
}

std::optional<Opening> Availability::FindNow(const Need& need) const {
  const Shape& shape = ShapeOf(need);
  Opening opening;
  opening.start = snapshot_.now;
  if (need.request->min_nodes == 1 && !NamesNodes(*need.request)) {
    if (const std::optional<std::uint32_t> node = TightestNode(need, shape)) {
      opening.shares = {NodeShare{*node, need.request->tasks}};
      return opening;
    }
    if (need.request->max_nodes == 1) {
      return std::nullopt;
    }
  }
  opening.shares = SpreadAt(need, shape, snapshot_.now);
  return opening.shares.empty() ? std::nullopt : std::optional(std::move(opening));
}

std::uint32_t Availability::CountNow(const Need& need, std::uint32_t tasks,
                                     std::uint32_t most) const {
  const Shape& shape = ShapeOf(need);
  const Time end = NeededUntil(snapshot_.now, need.duration);
  std::uint32_t count = 0;
  for (std::uint32_t node = 0; node < timelines_.size() && count < most; ++node) {
    if (IsOpenAt(node, need, snapshot_.now) &&
        Room(need, shape, node, timelines_[node].Least(snapshot_.now, end)) >= tasks) {
      ++count;
    }
  }
  return count;
}

std::vector<NodeShare> Availability::SpreadAt(const Need& need, const Shape& shape,
                                              Time start) const {
  const Time end = NeededUntil(start, need.duration);
  std::vector<std::uint32_t> room(timelines_.size(), 0);
  for (std::uint32_t node = 0; node < room.size(); ++node) {
    if (IsOpenAt(node, need, start)) {
      room[node] = Room(need, shape, node, timelines_[node].Least(start, end));
    }
  }
  return Spread(need, room);
}

std::optional<Opening> Availability::FindUneven(const Need& need, const Shape& shape,
                                                Time before) const {
  const bool even = need.request->max_nodes == 1 || need.request->tasks == need.request->min_nodes;
  if ((even && !NamesNodes(*need.request)) || timelines_.size() > kUnevenLooks) {
    return std::nullopt;
  }
  std::vector<Time> times;
  for (std::uint32_t node = 0; node < timelines_.size(); ++node) {
    if (IsOpen(node, need)) {
      timelines_[node].AppendTimes(times);
      if (need.reserved != nullptr) {
        need.reserved->AppendEnds(node, snapshot_.now, times);
      }
    }
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::size_t looks = 0;
  for (const Time time : times) {
    looks += timelines_.size();
    if (time >= before || looks > kUnevenLooks) {
      break;
    }
    std::vector<NodeShare> shares = SpreadAt(need, shape, time);
    if (!shares.empty()) {
      return Opening{time, std::move(shares)};
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Availability::TightestNode(const Need& need,
                                                        const Shape& shape) const {
  const std::uint32_t tasks = need.request->tasks;
  if (MostTasksOnNode(*need.request) < tasks) {
    return std::nullopt;
  }
  const Time end = NeededUntil(snapshot_.now, need.duration);
  const std::uint32_t gpus =
      shape.scales.empty() ? 0 : shape.scales[0].fixed.gpus + shape.scales[0].each.gpus * tasks;
  for (auto bucket = by_free_.begin(); bucket != by_free_.end(); ++bucket) {
    if (bucket->first[1] < gpus || bucket->first[2] < shape.least_cores) {
      continue;
    }
    for (const std::uint32_t node : bucket->second) {
      if (Room(need, shape, node, timelines_[node].now()) >= tasks &&
          IsOpenAt(node, need, snapshot_.now) &&
          Room(need, shape, node, timelines_[node].Least(snapshot_.now, end)) >= tasks) {
        return node;
      }
    }
  }
  return std::nullopt;
}

std::vector<NodeShare> Availability::Spread(const Need& need,
                                            const std::vector<std::uint32_t>& room) const {
  std::vector<CandidateNode> candidates;
  candidates.reserve(room.size());
  for (std::uint32_t node = 0; node < room.size(); ++node) {
    if (room[node] > 0) {
      candidates.push_back(
          CandidateNode{&snapshot_.nodes[node], node, room[node], timelines_[node].now().cores});
    }
  }
  return ChooseNodes(std::move(candidates), *need.request);
}

std::vector<Availability::Part> Availability::PartsWhenEmpty(const Need& need,
                                                             const Shape& shape) const {
  std::vector<std::uint32_t> room(timelines_.size(), 0);
  for (std::uint32_t node = 0; node < room.size(); ++node) {
    const bool ever = IsOpen(node, need) && OpenFrom(node, need, snapshot_.now) < kFarFuture;
    room[node] = ever ? Room(need, shape, node, capacity(node).all) : 0;
  }
  std::map<std::uint32_t, Part, std::greater<>> parts;  // the largest first
  for (const NodeShare& share : Spread(need, room)) {
    Part& part = parts[share.tasks];
    part.tasks = share.tasks;
    ++part.nodes;
  }
  std::vector<Part> list;
  for (const auto& [tasks, part] : parts) {
    list.push_back(part);
  }
  return list;
}

void Availability::FillQueue(const Need& need, const Shape& shape, Part& part) const {
  part.queue.reserve(timelines_.size());
  for (std::uint32_t node = 0; node < timelines_.size(); ++node) {
    if (IsOpen(node, need) && Room(need, shape, node, capacity(node).all) >= part.tasks) {
      part.queue.emplace_back(EarliestOn(need, shape, node, part.tasks, snapshot_.now), node);
    }
  }
  std::make_heap(part.queue.begin(), part.queue.end(), std::greater<>());
  part.filled = true;
}

bool Availability::EverFits(const Need& need) {
  Shape& shape = ShapeOf(need);
  if (!shape.parts.has_value()) {
    shape.parts = PartsWhenEmpty(need, shape);
  }
  return !shape.parts->empty();
}

std::optional<Opening> Availability::FindEarliest(const Need& need) {
  if (!EverFits(need)) {
    return std::nullopt;
  }
  Shape& shape = ShapeOf(need);
  // Which of the nodes it must have are free when is a question for the search below.
  Opening opening = NamesNodes(*need.request) ? Opening{kFarFuture, {}} : GatherParts(need, shape);
  std::optional<Opening> uneven = FindUneven(need, shape, opening.start);
  return uneven.has_value() ? uneven : opening;
}

Opening Availability::GatherParts(const Need& need, Shape& shape) {
  Opening opening;
  opening.start = snapshot_.now;
  for (bool settled = false; !settled;) {
    settled = true;
    opening.shares.clear();
    std::set<std::uint32_t> used;
    for (Part& part : *shape.parts) {
      if (!part.filled) {
        FillQueue(need, shape, part);
      }
      std::set<std::uint32_t> before = used;
      const std::optional<Time> time = Gather(need, shape, part, opening.start, used);
      if (!time.has_value()) {
        return Opening{kFarFuture, {}};
      }
      settled = settled && (opening.shares.empty() || *time == opening.start);
      opening.start = *time;
      for (const std::uint32_t node : used) {
        if (!before.contains(node)) {
          opening.shares.push_back(NodeShare{node, part.tasks});
        }
      }
    }
  }
  std::sort(opening.shares.begin(), opening.shares.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  return opening;
}

std::optional<Time> Availability::Gather(const Need& need, const Shape& shape, Part& part,
                                         Time from, std::set<std::uint32_t>& used) {
  const auto pop = [&] {
    std::pop_heap(part.queue.begin(), part.queue.end(), std::greater<>());
    const auto entry = part.queue.back();
    part.queue.pop_back();
    return entry;
  };
  const auto push = [&](Time time, std::uint32_t node) {
    part.queue.emplace_back(time, node);
    std::push_heap(part.queue.begin(), part.queue.end(), std::greater<>());
  };
  const auto earliest = [&](std::uint32_t node, Time time) {
    return EarliestOn(need, shape, node, part.tasks, time);
  };
  std::vector<std::pair<Time, std::uint32_t>> popped;  // with their exact times
  std::vector<std::uint32_t> fitting;
  Time time = from;
  while (true) {
    while (!part.queue.empty() && part.queue.front().first <= time) {
      const auto [bound, node] = pop();
      const Time exact = earliest(node, snapshot_.now);
      if (exact > time) {
        push(exact, node);
      } else {
        popped.emplace_back(exact, node);
      }
    }
    Time next = part.queue.empty() ? kFarFuture : part.queue.front().first;
    fitting.clear();
    for (const auto& [exact, node] : popped) {
      if (used.contains(node)) {
        continue;
      }
      const Time fits = exact == time ? time : earliest(node, time);
      if (fits == time) {
        fitting.push_back(node);
      } else {
        next = std::min(next, fits);
      }
    }
    if (fitting.size() >= part.nodes || next >= kFarFuture) {
      break;
    }
    time = next;
  }
  for (const auto& [exact, node] : popped) {
    push(exact, node);
  }
  if (fitting.size() < part.nodes) {
    return std::nullopt;
  }
  std::sort(fitting.begin(), fitting.end());
  used.insert(fitting.begin(), fitting.begin() + part.nodes);
  return time;
}

bool Availability::Fits(const Need& need, const Opening& opening) const {
  const Shape& shape = ShapeOf(need);
  const Time end = NeededUntil(opening.start, need.duration);
  return std::all_of(opening.shares.begin(), opening.shares.end(), [&](const NodeShare& share) {
    return IsOpenAt(share.node, need, opening.start) &&
           Room(need, shape, share.node, timelines_[share.node].Least(opening.start, end)) >=
               share.tasks;
  });
}

void Availability::Take(const Need& need, const Opening& opening) {
  const Shape& shape = ShapeOf(need);
  const Time end = EndOf(opening.start, need.duration);
  for (const NodeShare& share : opening.shares) {
    Unindex(share.node);
    timelines_[share.node].Take(Demand(shape, share.node, share.tasks), opening.start, end);
    Index(share.node);
  }
}

void Availability::TakeCores(std::uint32_t node, std::uint32_t cores, Time from, Time until) {
  NodeDemand demand;
  demand.cores = cores;
  if (from < until) {
    Unindex(node);
    timelines_[node].Take(demand, from, until);
    Index(node);
  }
}

NodeTimeline Availability::TimelineWithout(std::uint32_t node,
                                           const std::vector<const Holding*>& holdings) const {
  const NodeCapacity& all = capacity(node);
  NodeTimeline timeline = timelines_[node];
  for (const Holding* holding : holdings) {
    timeline.Lend(AmountsOf(*holding, *snapshot_.nodes[node].machine, all), snapshot_.now,
                  EndOf(*holding, snapshot_.now), all.all);
  }
  return timeline;
}

std::uint32_t Availability::RoomWithout(const Need& need, std::uint32_t node,
                                        const std::vector<const Holding*>& holdings) const {
  const Time end = NeededUntil(snapshot_.now, need.duration);
  return Room(need, ShapeOf(need), node, TimelineWithout(node, holdings).Least(snapshot_.now, end));
}

void Availability::TakeInPlaceOf(
    const std::map<std::uint32_t, std::vector<const Holding*>>& holdings, const Need& need,
    const Opening& opening) {
  const Shape& shape = ShapeOf(need);
  const Time end = EndOf(opening.start, need.duration);
  for (const NodeShare& share : opening.shares) {
    const auto here = holdings.find(share.node);
    Unindex(share.node);
    NodeTimeline& timeline = timelines_[share.node];
    const NodeTimeline before = timeline;
    if (here != holdings.end()) {
      timeline = TimelineWithout(share.node, here->second);
    }
    timeline.Take(Demand(shape, share.node, share.tasks), opening.start, end);
    timeline.CapBy(before);
    Index(share.node);
  }
}

}  // namespace muster
