#include "scheduler/core/plan/availability/availability.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/nodes/node_choice.h"
#include "scheduler/core/place/request.h"

namespace muster {
namespace {

// How many nodes are looked at, over all times, for a division of the tasks that starts earlier
// than the plain one. On large clusters a reservation may so be later than it need be; the job is
// still started when it fits.
constexpr std::size_t kUnevenLooks = 1U << 16;

}  // namespace

Availability::Availability(const Snapshot& snapshot)
    : snapshot_(&snapshot), changes_(snapshot.nodes.size()) {
  const std::size_t nodes = snapshot.nodes.size();
  if (snapshot.network != nullptr) {
    tree_.emplace(*snapshot.network, snapshot.nodes);
  }
  timelines_.resize(nodes);
  present_.resize(nodes);
  first_end_.resize(nodes, kFarFuture);
  taken_at_.resize(nodes, 0);
  std::map<const Machine*, std::uint32_t> known;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const NodePicture& picture = snapshot.nodes[node];
    usable_.push_back(picture.up && !picture.drained);
    const auto [found, is_new] = known.emplace(picture.machine.get(), 0);
    if (is_new) {
      found->second = InternCapacity(*picture.machine);
    }
    capacity_of_.push_back(found->second);
    present_[node].weight = picture.weight;
    Read(node);
    Note(node);
    Index(node);
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
  return {present_[node].weight, CountGpus(free, ~0U), free.cores};
}

void Availability::Note(std::uint32_t node) {
  present_[node].free = timelines_[node].now();
  present_[node].least = timelines_[node].IsLeastNow();
}

CandidateNode Availability::Candidate(std::uint32_t node, std::uint32_t room) const {
  const Present& present = present_[node];
  return CandidateNode{&snapshot_->nodes[node], node, room, present.free.cores, present.weight};
}

FreeAmounts Availability::LeastFree(std::uint32_t node, Time end) const {
  const Present& present = present_[node];
  return present.least ? present.free : timelines_[node].Least(snapshot_->now, end);
}

void Availability::Index(std::uint32_t node) {
  if (usable_[node]) {
    by_free_[KeyOf(node)].insert(node);
  }
}

// The node has been under the key `before`.
void Availability::Reindex(std::uint32_t node, const std::array<std::uint32_t, 3>& before) {
  Note(node);
  if (!usable_[node] || before == KeyOf(node)) {
    return;
  }
  const auto bucket = by_free_.find(before);
  bucket->second.erase(node);
  if (bucket->second.empty()) {
    by_free_.erase(bucket);
  }
  Index(node);
}

Availability::Shape& Availability::ShapeOf(const Need& need) const {
  Shape& shape = shapes_[need.shape];
  while (shape.scales.size() < capacities_.size()) {
    const NodeCapacity& capacity = capacities_[shape.scales.size()];
    shape.scales.push_back(ScaleOf(capacity, *need.request, need.whole_gpus));
    const NodeDemand all = DemandOf(capacity, shape.scales.back(), need.request->tasks);
    shape.least_cores = std::min(shape.least_cores, all.cores);
    shape.least_gpus = std::min(shape.least_gpus, all.gpus);
  }
  if (shape.pass != pass_) {
    shape.pass = pass_;
    Renew(need, shape);
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

Time Availability::EarliestOn(const NodeTimeline& timeline, const Need& need, const Shape& shape,
                              std::uint32_t node, std::uint32_t tasks, Time from) const {
  const NodeDemand demand = Demand(shape, node, tasks);
  while (true) {
    const Time fits = timeline.EarliestFit(demand, from, need.duration);
    from = OpenFrom(node, need, fits);
    if (from == fits || from >= kFarFuture) {
      return from;
    }
  }
}

std::optional<Opening> Availability::FindNow(const Need& need) const {
  Shape& shape = ShapeOf(need);
  if (need.reserved == nullptr) {
    if (!shape.room_now.known) {
      FindRoomNow(need, shape);
    }
    if (!shape.room_now.many) {
      return FindAmong(need, shape);
    }
  }
  Opening opening;
  opening.start = snapshot_->now;
  if (need.request->min_nodes == 1 && !NamesNodes(*need.request)) {
    if (const std::optional<std::uint32_t> node = TightestNode(need)) {
      opening.shares = {NodeShare{*node, need.request->tasks}};
      return opening;
    }
    if (need.request->max_nodes == 1) {
      return std::nullopt;
    }
  }
  opening.shares = SpreadAt(need, shape, snapshot_->now);
  return opening.shares.empty() ? std::nullopt : std::optional(std::move(opening));
}

// What FindNow looks for, among the few nodes that have room for a task.
std::optional<Opening> Availability::FindAmong(const Need& need, const Shape& shape) const {
  const std::uint32_t tasks = need.request->tasks;
  const Time end = NeededUntil(snapshot_->now, need.duration);
  std::vector<CandidateNode> candidates;
  for (const NodeShare& able : shape.room_now.nodes) {
    const std::uint32_t node = able.node;
    if (IsBarred(node, need)) {
      continue;
    }
    const std::uint32_t room =
        taken_at_[node] == 0 ? able.tasks : Room(need, shape, node, LeastFree(node, end));
    if (room > 0) {
      candidates.push_back(Candidate(node, room));
    }
  }
  if (need.request->min_nodes == 1 && !NamesNodes(*need.request)) {
    const CandidateNode* tightest = nullptr;
    for (const CandidateNode& candidate : candidates) {
      if (candidate.room >= tasks && MostTasksOnNode(*need.request) >= tasks &&
          (tightest == nullptr || KeyOf(candidate.position) < KeyOf(tightest->position))) {
        tightest = &candidate;
      }
    }
    if (tightest != nullptr) {
      return Opening{snapshot_->now, {NodeShare{tightest->position, tasks}}};
    }
    if (need.request->max_nodes == 1) {
      return std::nullopt;
    }
  }
  Opening opening{snapshot_->now, ChooseNodes(std::move(candidates), *need.request, tree())};
  return opening.shares.empty() ? std::nullopt : std::optional(std::move(opening));
}

std::optional<Opening> Availability::FindAt(const Need& need, Time start) const {
  Opening opening{start, SpreadAt(need, ShapeOf(need), start)};
  return opening.shares.empty() ? std::nullopt : std::optional(std::move(opening));
}

void Availability::AppendTimes(const Need& need, std::vector<Time>& times) const {
  for (std::uint32_t node = 0; node < timelines_.size(); ++node) {
    if (IsOpen(node, need)) {
      timelines_[node].AppendTimes(times);
      if (need.reserved != nullptr) {
        need.reserved->AppendEnds(node, snapshot_->now, times);
      }
    }
  }
}

const FreeInAll& Availability::InAll() {
  if (!in_all_.filled()) {
    in_all_.Fill(timelines_, usable_);
  }
  return in_all_;
}

std::optional<Opening> Availability::FindUneven(const Need& need, Time from, Time before) {
  if (timelines_.size() > kUnevenLooks) {
    return std::nullopt;
  }
  if (need.reserved != nullptr) {
    return FindUnevenBeside(need, from, before);
  }
  const Shape& shape = ShapeOf(need);
  const AmountsInAll least = LeastOf(shape);
  std::size_t looks = 0;
  const FreeInAll& sum = InAll();
  for (Time time = sum.EarliestFit(least, from, need.duration);
       time < before && time < kFarFuture && looks + timelines_.size() <= kUnevenLooks;
       time = sum.EarliestFit(least, sum.NextChange(time), need.duration)) {
    looks += timelines_.size();
    std::vector<NodeShare> shares = SpreadAt(need, shape, time);
    if (!shares.empty()) {
      return Opening{time, std::move(shares)};
    }
  }
  return std::nullopt;
}

std::optional<Opening> Availability::FindUnevenBeside(const Need& need, Time from,
                                                      Time before) const {
  std::vector<Time> times = {from};
  AppendTimes(need, times);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const Shape& shape = ShapeOf(need);
  std::size_t looks = 0;
  for (auto time = std::lower_bound(times.begin(), times.end(), from); time != times.end();
       ++time) {
    looks += timelines_.size();
    if (*time >= before || looks > kUnevenLooks) {
      break;
    }
    std::vector<NodeShare> shares = SpreadAt(need, shape, *time);
    if (!shares.empty()) {
      return Opening{*time, std::move(shares)};
    }
  }
  return std::nullopt;
}

void Availability::FindParts(const Need& need, Shape& shape) const {
  std::vector<std::uint32_t> room(timelines_.size(), 0);
  std::uint32_t most = 0;
  std::uint32_t least = UINT32_MAX;
  for (std::uint32_t node = 0; node < room.size(); ++node) {
    const bool ever = IsOpen(node, need) && OpenFrom(node, need, snapshot_->now) < kFarFuture;
    room[node] = ever ? Room(need, shape, node, capacity(node).all) : 0;
    most = std::max(most, room[node]);
    least = room[node] > 0 ? std::min(least, room[node]) : least;
  }
  const ResourceRequest& request = *need.request;
  // Else which of the nodes are chosen, and so what the parts are, hangs on what is free of them.
  shape.lasting = need.reserved == nullptr && !NamesNodes(request) &&
                  (request.max_nodes == 1 || request.tasks == request.min_nodes || least >= most);
  std::map<std::uint32_t, Part, std::greater<>> parts;  // the largest first
  for (const NodeShare& share : Spread(need, room)) {
    Part& part = parts[share.tasks];
    part.tasks = share.tasks;
    ++part.nodes;
  }
  shape.parts.emplace();
  for (auto& [tasks, part] : parts) {
    shape.parts->push_back(std::move(part));
  }
}

void Availability::FillQueue(const Need& need, const Shape& shape, Part& part) const {
  std::vector<EarliestQueue::Entry> bounds;
  bounds.reserve(timelines_.size());
  for (std::uint32_t node = 0; node < timelines_.size(); ++node) {
    if (IsOpen(node, need) && Room(need, shape, node, capacity(node).all) >= part.tasks) {
      bounds.emplace_back(EarliestOn(Untaken(node), need, shape, node, part.tasks, snapshot_->now),
                          node);
    }
  }
  part.queue.Fill(std::move(bounds), changes_.mark());
}

bool Availability::EverFits(const Need& need) {
  Shape& shape = ShapeOf(need);
  if (!shape.parts.has_value()) {
    FindParts(need, shape);
  }
  return !shape.parts->empty();
}

std::optional<Opening> Availability::FindEarliest(const Need& need, Time from) {
  return EverFits(need) ? std::optional(Search(need, from, kFarFuture)) : std::nullopt;
}

std::optional<Opening> Availability::FindEarlier(const Need& need, Time from, Time before) {
  if (!EverFits(need)) {
    return std::nullopt;
  }
  Opening opening = Search(need, from, before);
  return opening.start < before && !opening.shares.empty() ? std::optional(std::move(opening))
                                                           : std::nullopt;
}

Opening Availability::Search(const Need& need, Time from, Time before) {
  Shape& shape = ShapeOf(need);
  // Which of the nodes it must have are free when is a question for the search below.
  const bool named = NamesNodes(*need.request);
  const bool even = need.request->max_nodes == 1 || need.request->tasks == need.request->min_nodes;
  if (!even || named) {  // else the parts' queues are quicker than the sum
    from = InAll().EarliestFit(LeastOf(shape), from, need.duration);
    if (from >= before) {
      return Opening{kFarFuture, {}};
    }
  }
  const Opening opening = named ? Opening{kFarFuture, {}} : GatherParts(need, shape, from, before);
  if (!named && opening.shares.empty() && opening.start < kFarFuture) {
    return FindUneven(need, opening.start, before).value_or(Opening{kFarFuture, {}});
  }
  if (even && !named) {
    return opening;
  }
  return FindUneven(need, from, std::min(opening.start, before)).value_or(opening);
}

Opening Availability::GatherParts(const Need& need, Shape& shape, Time from, Time before) {
  Opening opening;
  opening.start = from;
  std::vector<NodeShare> able;  // all that take a part then, with the largest such
  for (bool settled = false; !settled;) {
    settled = true;
    opening.shares.clear();
    able.clear();
    std::set<std::uint32_t> used;
    for (Part& part : *shape.parts) {
      if (!part.queue.filled()) {
        FillQueue(need, shape, part);
      }
      std::vector<std::uint32_t> fitting;
      const std::optional<Time> time =
          Gather(need, shape, part, opening.start, before, used, fitting);
      if (!time.has_value()) {
        return Opening{kFarFuture, {}};
      }
      settled = settled && (opening.shares.empty() || *time == opening.start);
      opening.start = *time;
      for (std::size_t i = 0; i < part.nodes; ++i) {
        used.insert(fitting[i]);
        opening.shares.push_back(NodeShare{fitting[i], part.tasks});
      }
      for (std::size_t i = 0; tree_.has_value() && i < fitting.size(); ++i) {
        able.push_back(NodeShare{fitting[i], part.tasks});
      }
    }
  }
  if (tree_.has_value() && opening.shares.size() > 1) {
    opening.shares = Contract(need, std::move(able));
    return opening;
  }
  std::sort(opening.shares.begin(), opening.shares.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  return opening;
}

std::optional<Time> Availability::Gather(const Need& need, const Shape& shape, Part& part,
                                         Time from, Time before,
                                         const std::set<std::uint32_t>& used,
                                         std::vector<std::uint32_t>& fitting) {
  EarliestQueue& queue = part.queue;
  const auto earliest = [&](std::uint32_t node, Time time) {
    return EarliestOn(timelines_[node], need, shape, node, part.tasks, time);
  };
  const auto until = [&](std::uint32_t node, Time fits) {
    return need.reserved != nullptr || fits >= kFarFuture
               ? fits
               : timelines_[node].FitsUntil(Demand(shape, node, part.tasks), fits, need.duration);
  };
  struct Popped {
    Time exact;
    std::uint32_t node;
    Time fits;   // the earliest from the time looked at on
    Time until;  // to which it fits, at least
  };
  std::vector<Popped> popped;
  Time time = from;
  while (true) {
    while (queue.Next(changes_) <= time) {
      if (queue.Spent()) {
        FillQueue(need, shape, part);
        popped.clear();
        continue;
      }
      const std::uint32_t node = queue.Pop(changes_).second;
      const Time exact = earliest(node, snapshot_->now);
      if (exact > time) {
        queue.Push({exact, node});
      } else {
        popped.push_back(Popped{exact, node, exact, until(node, exact)});
      }
    }
    Time next = queue.Next(changes_);
    fitting.clear();
    for (Popped& look : popped) {
      if (used.contains(look.node)) {
        continue;
      }
      if (time > look.until) {
        look.fits = earliest(look.node, time);
        look.until = until(look.node, look.fits);
      }
      if (look.fits <= time) {
        fitting.push_back(look.node);
      } else {
        next = std::min(next, look.fits);
      }
    }
    if (fitting.size() >= part.nodes || next >= before) {
      break;
    }
    time = next;
  }
  for (const Popped& look : popped) {
    queue.Push({look.exact, look.node});
  }
  if (fitting.size() < part.nodes) {
    return std::nullopt;
  }
  std::sort(fitting.begin(), fitting.end());
  return time;
}

bool Availability::Fits(const Need& need, const Opening& opening) const {
  const Shape& shape = ShapeOf(need);
  const Time end = NeededUntil(opening.start, need.duration);
  return LieAsAsked(need, opening.shares) &&
         std::all_of(opening.shares.begin(), opening.shares.end(), [&](const NodeShare& share) {
           return IsOpenAt(share.node, need, opening.start) &&
                  Room(need, shape, share.node, timelines_[share.node].Least(opening.start, end)) >=
                      share.tasks;
         });
}

void Availability::Take(const Need& need, const Opening& opening) {
  const Shape& shape = ShapeOf(need);
  const Time end = EndOf(opening.start, need.duration);
  FreeInAll in_all = std::exchange(in_all_, FreeInAll());
  AmountsInAll sum;
  for (const NodeShare& share : opening.shares) {
    const NodeDemand demand = Demand(shape, share.node, share.tasks);
    const auto key = KeyOf(share.node);
    Touch(share.node).Take(demand, opening.start, end);
    Reindex(share.node, key);
    sum.cores += demand.cores;
    sum.gpus += demand.gpus;
    if (demand.shares > 0) {
      in_all.Clear();  // how many whole GPUs they break hangs on what is left of these
    }
  }
  if (in_all.filled()) {
    in_all.Take(sum, opening.start, end);
  }
  in_all_ = std::move(in_all);
}

void Availability::TakeCores(std::uint32_t node, std::uint32_t cores, Time from, Time until) {
  NodeDemand demand;
  demand.cores = cores;
  if (from < until) {
    const auto key = KeyOf(node);
    Touch(node).Take(demand, from, until);
    Reindex(node, key);
  }
}

void Availability::BreakGpu(std::uint32_t node, std::size_t model, Time from, Time until) {
  const auto key = KeyOf(node);
  Touch(node).BreakGpu(model, from, until);
  Reindex(node, key);
}

void Availability::Restore(std::uint32_t node, NodeTimeline timeline) {
  in_all_.Clear();
  const auto key = KeyOf(node);
  timelines_[node] = std::move(timeline);
  Reindex(node, key);
}

NodeTimeline Availability::TimelineWithout(std::uint32_t node,
                                           const std::vector<const Holding*>& holdings) const {
  const NodeCapacity& all = capacity(node);
  NodeTimeline timeline = timelines_[node];
  timeline.StartAt(snapshot_->now);
  for (const Holding* holding : holdings) {
    timeline.Lend(AmountsOf(*holding, *snapshot_->nodes[node].machine, all), snapshot_->now,
                  EndOf(*holding, snapshot_->now), all.all);
  }
  return timeline;
}

std::uint32_t Availability::RoomWithout(const Need& need, std::uint32_t node,
                                        const std::vector<const Holding*>& holdings) const {
  const Time end = NeededUntil(snapshot_->now, need.duration);
  return Room(need, ShapeOf(need), node,
              TimelineWithout(node, holdings).Least(snapshot_->now, end));
}

void Availability::TakeInPlaceOf(
    const std::map<std::uint32_t, std::vector<const Holding*>>& holdings, const Need& need,
    const Opening& opening) {
  const Shape& shape = ShapeOf(need);
  const Time end = EndOf(opening.start, need.duration);
  for (const NodeShare& share : opening.shares) {
    const auto here = holdings.find(share.node);
    const auto key = KeyOf(share.node);
    NodeTimeline& timeline = Touch(share.node);
    const NodeTimeline before = timeline;
    if (here != holdings.end()) {
      timeline = TimelineWithout(share.node, here->second);
    }
    timeline.Take(Demand(shape, share.node, share.tasks), opening.start, end);
    timeline.CapBy(before);
    Reindex(share.node, key);
  }
}

}  // namespace muster
