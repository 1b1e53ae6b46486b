#include "scheduler/core/plan/availability/room_now.h"

#include <algorithm>

namespace muster::core {
namespace {

// Nodes with room for a shape that are kept in a list.
constexpr std::size_t kRoomKept = 512;

// Nodes with fewer cores do not take one task.
std::uint32_t CoresOfOneTask(const NodeQuery& query) {
  const std::vector<NodeCapacity>& classes = query.nodes().inventory().classes();
  const std::vector<DemandScale>& scales = query.demand().scales;
  std::uint32_t cores = UINT32_MAX;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    cores = std::min(cores, DemandOf(classes[i], scales[i], 1).cores);
  }
  return cores;
}

}  // namespace

// Nodes too small for one task are passed over by their index.
void RoomNow::Find(const NodeQuery& query) {
  known_ = true;
  many_ = false;
  mark_ = query.nodes().changes().mark();
  nodes_.clear();
  const auto note = [&](std::uint32_t node) {
    const std::uint32_t room = query.UntakenRoom(node);
    if (room > 0) {
      nodes_.push_back(NodeShare{node, room});
    }
    many_ = nodes_.size() > kRoomKept;
  };
  const UntakenTimelines& untaken = query.nodes().untaken();
  for (auto taken = untaken.entries().begin(); taken != untaken.entries().end() && !many_;
       ++taken) {
    note(taken->first);
  }
  if (!many_) {
    query.nodes().by_free().VisitWith(query.demand().GpusFor(1), CoresOfOneTask(query),
                                      [&](std::uint32_t node) {
                                        if (!untaken.Has(node)) {
                                          note(node);
                                        }
                                        return !many_;
                                      });
  }
  if (many_) {
    nodes_.clear();
  }
  std::sort(nodes_.begin(), nodes_.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
}

void RoomNow::Renew(const NodeQuery& query) {
  if (query.need().reserved != nullptr) {
    *this = RoomNow();
  }
  if (!known_) {
    return;
  }
  const ChangeLog& log = query.nodes().changes();
  std::vector<std::uint32_t> changed;
  log.AppendSince(mark_, changed);
  mark_ = log.mark();
  if (many_) {
    known_ = changed.empty();
    return;
  }
  for (const std::uint32_t node : changed) {
    const auto at =
        std::lower_bound(nodes_.begin(), nodes_.end(), node,
                         [](const NodeShare& a, std::uint32_t b) { return a.node < b; });
    const std::uint32_t room = query.UntakenRoom(node);
    const bool listed = at != nodes_.end() && at->node == node;
    if (room == 0 && listed) {
      nodes_.erase(at);
    } else if (room > 0 && listed) {
      at->tasks = room;
    } else if (room > 0) {
      nodes_.insert(at, NodeShare{node, room});
    }
  }
  many_ = nodes_.size() > kRoomKept;
}

}  // namespace muster::core
