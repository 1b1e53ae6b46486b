// How what is available moves on from one snapshot to the next: what is given back, read anew and
// kept of each shape.
#include <algorithm>

#include "scheduler/core/plan/availability/availability.h"

namespace muster {
namespace {

// How many changes of nodes are remembered before all is worked out anew.
constexpr std::size_t kChangesKept = 1U << 20;
// Changed nodes that a queue is told of again in each pass before they are worked into it.
constexpr std::size_t kChangesAside = 32;
// Nodes with room for a shape that are kept in a list.
constexpr std::size_t kRoomKept = 512;

// True when nothing differs that decides who may use the node and what it has.
bool IsSameNode(const NodePicture& a, const NodePicture& b) {
  return a.id == b.id && a.machine == b.machine && a.up == b.up && a.drained == b.drained &&
         a.weight == b.weight && a.name == b.name && a.features == b.features;
}

bool IsSameHolding(const Holding& a, const Holding& b) {
  return a.job == b.job && a.ends == b.ends && a.cpus == b.cpus && a.memory == b.memory &&
         a.gpus == b.gpus && a.given_back == b.given_back && a.back == b.back;
}

bool HasSameUse(const NodePicture& a, const NodePicture& b) {
  return a.taken == b.taken && std::equal(a.holdings.begin(), a.holdings.end(), b.holdings.begin(),
                                          b.holdings.end(), IsSameHolding);
}

}  // namespace

void Availability::Read(std::uint32_t node) {
  const NodePicture& picture = snapshot_->nodes[node];
  timelines_[node] = TimelineOf(picture, capacity(node), snapshot_->now);
  ends_.erase({first_end_[node], node});
  first_end_[node] = kFarFuture;
  for (const Holding& holding : picture.holdings) {
    if (holding.ends != kNoTime) {
      first_end_[node] = std::min(first_end_[node], holding.ends);
    }
  }
  if (first_end_[node] < kFarFuture) {
    ends_.emplace(first_end_[node], node);
  }
}

bool Availability::MoveTo(const Snapshot& next) {
  if (next.nodes.size() != timelines_.size() || next.now < snapshot_->now ||
      next.network != snapshot_->network || changes_.mark() > kChangesKept) {
    return false;
  }
  GiveBack();
  ++pass_;
  const Snapshot& last = *snapshot_;
  snapshot_ = &next;
  if (!next.delta.has_value() || next.delta->from != &last || next.delta->since != last.version) {
    for (std::uint32_t node = 0; node < timelines_.size(); ++node) {
      if (!MoveNode(node, last.nodes[node])) {
        return false;
      }
    }
    return true;
  }
  // Of the others the timelines begin earlier than now; Touch mends that.
  std::set<std::uint32_t> look(next.delta->nodes.begin(), next.delta->nodes.end());
  for (auto end = ends_.begin(); end != ends_.end() && end->first <= next.now; ++end) {
    look.insert(end->second);
  }
  return std::all_of(look.begin(), look.end(),
                     [&](std::uint32_t node) { return MoveNode(node, last.nodes[node]); });
}

bool Availability::MoveNode(std::uint32_t node, const NodePicture& before) {
  const NodePicture& picture = snapshot_->nodes[node];
  if (!IsSameNode(before, picture)) {
    return false;
  }
  if (first_end_[node] <= snapshot_->now || !HasSameUse(before, picture)) {
    const auto key = KeyOf(node);
    Read(node);
    Reindex(node, key);
    changes_.Add(node);
  }
  return true;
}

const NodeTimeline& Availability::Untaken(std::uint32_t node) const {
  return taken_at_[node] == 0 ? timelines_[node] : untaken_[taken_at_[node] - 1].second;
}

NodeTimeline& Availability::Touch(std::uint32_t node) {
  in_all_.Clear();
  timelines_[node].StartAt(snapshot_->now);
  if (taken_at_[node] == 0) {
    untaken_.emplace_back(node, timelines_[node]);
    taken_at_[node] = static_cast<std::uint32_t>(untaken_.size());
  }
  return timelines_[node];
}

void Availability::GiveBack() {
  in_all_.Clear();
  for (auto& [node, timeline] : untaken_) {
    const auto key = KeyOf(node);
    timelines_[node] = std::move(timeline);
    taken_at_[node] = 0;
    Reindex(node, key);
  }
  untaken_.clear();
}

void Availability::Renew(const Need& need, Shape& shape) const {
  if (!shape.lasting || need.reserved != nullptr) {
    shape.parts.reset();
  }
  if (shape.parts.has_value()) {
    for (Part& part : *shape.parts) {
      if (part.queue.filled()) {
        RenewQueue(need, shape, part);
      }
    }
  }
  if (need.reserved != nullptr) {
    shape.room_now = RoomNow();
  } else if (shape.room_now.known) {
    RenewRoomNow(need, shape);
  }
}

void Availability::RenewQueue(const Need& need, const Shape& shape, Part& part) const {
  std::vector<std::uint32_t> changed;
  changes_.AppendSince(part.queue.mark(), changed);
  std::vector<EarliestQueue::Entry> bounds;
  for (const std::uint32_t node : changed) {
    if (IsOpen(node, need) && Room(need, shape, node, capacity(node).all) >= part.tasks) {
      bounds.emplace_back(EarliestOn(Untaken(node), need, shape, node, part.tasks, snapshot_->now),
                          node);
    }
  }
  if (changed.size() > kChangesAside) {
    part.queue.Renew(bounds, changes_);
  } else {
    part.queue.Restart(std::move(bounds));
  }
}

std::uint32_t Availability::UntakenRoom(const Need& need, const Shape& shape,
                                        std::uint32_t node) const {
  return IsOpen(node, need) ? Room(need, shape, node, Untaken(node).now()) : 0;
}

void Availability::RenewRoomNow(const Need& need, Shape& shape) const {
  RoomNow& known = shape.room_now;
  std::vector<std::uint32_t> changed;
  changes_.AppendSince(known.mark, changed);
  known.mark = changes_.mark();
  if (known.many) {
    known.known = changed.empty();
    return;
  }
  for (const std::uint32_t node : changed) {
    const auto at =
        std::lower_bound(known.nodes.begin(), known.nodes.end(), node,
                         [](const NodeShare& a, std::uint32_t b) { return a.node < b; });
    const std::uint32_t room = UntakenRoom(need, shape, node);
    const bool listed = at != known.nodes.end() && at->node == node;
    if (room == 0 && listed) {
      known.nodes.erase(at);
    } else if (room > 0 && listed) {
      at->tasks = room;
    } else if (room > 0) {
      known.nodes.insert(at, NodeShare{node, room});
    }
  }
  known.many = known.nodes.size() > kRoomKept;
}

// Nodes too small for one task are passed over by their index.
void Availability::FindRoomNow(const Need& need, Shape& shape) const {
  RoomNow& known = shape.room_now;
  known = RoomNow{true, false, changes_.mark(), {}};
  std::uint32_t cores = UINT32_MAX;
  for (std::size_t i = 0; i < shape.scales.size(); ++i) {
    cores = std::min(cores, DemandOf(capacities_[i], shape.scales[i], 1).cores);
  }
  const std::uint32_t gpus =
      shape.scales.empty() ? 0 : shape.scales[0].fixed.gpus + shape.scales[0].each.gpus;
  const auto note = [&](std::uint32_t node) {
    const std::uint32_t room = UntakenRoom(need, shape, node);
    if (room > 0) {
      known.nodes.push_back(NodeShare{node, room});
    }
    known.many = known.nodes.size() > kRoomKept;
  };
  for (auto taken = untaken_.begin(); taken != untaken_.end() && !known.many; ++taken) {
    note(taken->first);
  }
  for (auto bucket = by_free_.begin(); bucket != by_free_.end() && !known.many; ++bucket) {
    if (bucket->first[1] < gpus || bucket->first[2] < cores) {
      continue;
    }
    for (auto node = bucket->second.begin(); node != bucket->second.end() && !known.many; ++node) {
      if (taken_at_[*node] == 0) {
        note(*node);
      }
    }
  }
  if (known.many) {
    known.nodes.clear();
  }
  std::sort(known.nodes.begin(), known.nodes.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
}

}  // namespace muster
