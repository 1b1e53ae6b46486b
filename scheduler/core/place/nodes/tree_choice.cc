#include "scheduler/core/place/nodes/tree_choice.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <span>
#include <utility>

#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/nodes/segment_choice.h"
#include "scheduler/core/place/request.h"

namespace muster::core {
namespace {

using Candidates = std::vector<CandidateNode>;
using LeafCounts = std::map<std::uint32_t, std::uint32_t>;

// What the candidates below a switch take.
struct Room {
  std::uint64_t tasks = 0;
  std::uint32_t nodes = 0;
  std::uint32_t most = 0;  // on one node
};

// A switch with the candidates that hang on it.
struct TreeLeaf {
  std::uint32_t number = 0;
  std::uint64_t tasks = 0;
  std::span<const CandidateNode> nodes;
};

using Leaves = std::vector<const TreeLeaf*>;

// A switch below which there may be room; the least is the best.
struct Prospect {
  std::uint32_t level = 0;
  std::uint64_t nodes = 0;  // that the job needs there, at the least
  std::uint64_t room = 0;
  std::uint64_t turns = 0;  // of those, at the least
  std::uint32_t at = 0;
  friend auto operator<=>(const Prospect&, const Prospect&) = default;
};

bool HasMoreRoom(const TreeLeaf* a, const TreeLeaf* b) {
  return a->tasks != b->tasks ? a->tasks > b->tasks : a->number < b->number;
}

bool HasMoreNodes(const TreeLeaf* a, const TreeLeaf* b) {
  return a->nodes.size() != b->nodes.size() ? a->nodes.size() > b->nodes.size() : HasMoreRoom(a, b);
}

bool HasFewerNodes(const TreeLeaf* a, const TreeLeaf* b) {
  if (a->nodes.size() != b->nodes.size()) {
    return a->nodes.size() < b->nodes.size();
  }
  return a->tasks != b->tasks ? a->tasks < b->tasks : a->number < b->number;
}

Candidates Joined(const Leaves& leaves) {
  Candidates nodes;
  for (const TreeLeaf* leaf : leaves) {
    nodes.insert(nodes.end(), leaf->nodes.begin(), leaf->nodes.end());
  }
  return nodes;
}

std::uint64_t TurnsOf(const Candidates& nodes) {
  return std::accumulate(
      nodes.begin(), nodes.end(), std::uint64_t{0},
      [](std::uint64_t sum, const CandidateNode& node) { return sum + node.turn; });
}

// How many of the nodes are on each leaf.
template <class Nodes, class PositionOf>
LeafCounts CountByLeaf(const Nodes& nodes, PositionOf position_of, const NodeTree& tree) {
  LeafCounts counts;
  for (const auto& node : nodes) {
    ++counts[tree.LeafOf(node.*position_of)];
  }
  return counts;
}

bool LieAsAsked(const LeafCounts& counts, const ResourceRequest& request) {
  return (request.switches == 0 || counts.size() <= request.switches) &&
         (!IsInSegments(request) || AreSegments(counts, request));
}

// The choice for one request among some candidates.
class Chooser {
 public:
  Chooser(const Candidates& candidates, const ResourceRequest& request, const NodeTree& tree)
      : candidates_(candidates), request_(request), tree_(tree) {}

  Candidates Choose() {
    Candidates best = OnOneNode();
    if (!best.empty()) {
      return best;
    }
    std::priority_queue<Prospect, std::vector<Prospect>, std::greater<>> able = Able();
    Prospect found;
    while (!able.empty()) {
      Prospect next = able.top();
      able.pop();
      if (!best.empty() && found <= next) {
        break;  // no other needs fewer nodes, or as many and has less room, or lower turns
      }
      Candidates chosen = ChooseBelow(next.at);
      next.nodes = chosen.size();
      next.turns = TurnsOf(chosen);
      if (!chosen.empty() && LiesAsAsked(chosen) && (best.empty() || next < found)) {
        best = std::move(chosen);
        found = next;
      }
    }
    return best;
  }

 private:
  [[nodiscard]] bool LiesAsAsked(const Candidates& chosen) const {
    const bool asks = request_.switches > 0 || IsInSegments(request_);
    return !asks || LieAsAsked(CountByLeaf(chosen, &CandidateNode::position, tree_), request_);
  }

  // The smallest span of all.
  [[nodiscard]] Candidates OnOneNode() const {
    const bool some =
        request_.min_nodes == 1 &&
        std::any_of(candidates_.begin(), candidates_.end(), [this](const CandidateNode& candidate) {
          return candidate.room >= request_.tasks;
        });
    if (!some) {
      return {};
    }
    ResourceRequest alone = request_;
    alone.max_nodes = 1;
    return ChooseFewest(candidates_, alone);
  }

  // By switch; notes what hangs on each leaf.
  std::vector<Room> LookAtTree() {
    std::vector<Room> rooms(tree_.size());
    for (const CandidateNode& candidate : candidates_) {
      Room& room = rooms[tree_.LeafOf(candidate.position)];
      room.tasks += candidate.room;
      room.most = std::max(room.most, candidate.room);
      ++room.nodes;
    }
    SortByLeaf(rooms);
    for (std::size_t i = rooms.size(); i-- > 1;) {  // parents stand before
      Room& above = rooms[tree_.ParentOf(static_cast<std::uint32_t>(i))];
      above.tasks += rooms[i].tasks;
      above.most = std::max(above.most, rooms[i].most);
      above.nodes += rooms[i].nodes;
    }
    return rooms;
  }

  // REQUIRES: each switch's room is that of its own nodes.
  void SortByLeaf(const std::vector<Room>& rooms) {
    by_leaf_.resize(candidates_.size());
    std::vector<CandidateNode*> next;
    CandidateNode* from = by_leaf_.data();
    for (std::uint32_t at = 0; at < rooms.size(); ++at) {
      leaves_.push_back(TreeLeaf{at, rooms[at].tasks, {from, rooms[at].nodes}});
      next.push_back(from);
      from += rooms[at].nodes;
    }
    for (const CandidateNode& candidate : candidates_) {
      *next[tree_.LeafOf(candidate.position)]++ = candidate;
    }
  }

  // The switches below which the job may have room: those where it certainly has none are left out.
  std::priority_queue<Prospect, std::vector<Prospect>, std::greater<>> Able() {
    std::vector<Prospect> able;
    const std::vector<Room> rooms = LookAtTree();
    for (std::uint32_t at = 0; at < rooms.size(); ++at) {
      const Room& room = rooms[at];
      if (room.nodes == 0 || room.tasks < request_.tasks) {
        continue;
      }
      const std::uint64_t needed =
          std::max<std::uint64_t>(request_.min_nodes, (request_.tasks + room.most - 1) / room.most);
      if (needed <= std::min(room.nodes, request_.max_nodes)) {
        able.push_back(Prospect{tree_.LevelOf(at), needed, room.tasks, 0, at});
      }
    }
    return std::priority_queue<Prospect, std::vector<Prospect>, std::greater<>>(std::greater<>(),
                                                                                std::move(able));
  }

  [[nodiscard]] Leaves LeavesBelow(std::uint32_t top) const {
    Leaves leaves;
    std::vector<bool> below(tree_.size(), false);
    for (std::uint32_t at = top; at < below.size(); ++at) {
      below[at] = at == top || below[tree_.ParentOf(at)];
      if (below[at] && !leaves_[at].nodes.empty()) {
        leaves.push_back(&leaves_[at]);
      }
    }
    return leaves;
  }

  [[nodiscard]] Candidates ChooseBelow(std::uint32_t top) const {
    const Leaves leaves = LeavesBelow(top);
    if (IsInSegments(request_) && !NamesNodes(request_)) {
      return InSegments(leaves);
    }
    if (leaves.size() == 1 || NamesNodes(request_)) {
      return ChooseFewest(Joined(leaves), request_);
    }
    const Leaves fewest = Fewest(leaves);
    return fewest.size() < 2 ? ChooseFewest(Joined(fewest), request_) : Balance(fewest, leaves);
  }

  [[nodiscard]] Candidates InSegments(const Leaves& leaves) const {
    std::vector<Candidates> groups;
    for (const TreeLeaf* leaf : leaves) {
      groups.emplace_back(leaf->nodes.begin(), leaf->nodes.end());
    }
    return ChooseSegments(std::move(groups), request_);
  }

  // As few leaves as hold the job.
  [[nodiscard]] Leaves Fewest(Leaves leaves) const {
    std::sort(leaves.begin(), leaves.end(), HasMoreRoom);
    Leaves by_room = UpToRoom(leaves);
    std::sort(leaves.begin(), leaves.end(), HasMoreNodes);
    Leaves by_nodes = UpToRoom(leaves);
    return by_nodes.size() < by_room.size() ? by_nodes : by_room;
  }

  // The first of them that hold the job together; none when not even all do.
  [[nodiscard]] Leaves UpToRoom(Leaves leaves) const {
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> best;
    std::uint64_t tasks = 0;  // on as many of the roomiest nodes as it may have
    std::uint64_t nodes = 0;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      for (const CandidateNode& node : leaves[i]->nodes) {
        ++nodes;
        best.push(node.room);
        tasks += node.room;
        if (best.size() > request_.max_nodes) {
          tasks -= best.top();
          best.pop();
        }
      }
      if (tasks >= request_.tasks && nodes >= request_.min_nodes) {
        leaves.resize(i + 1);
        return leaves;
      }
    }
    return {};
  }

  // As many nodes on each of as many leaves: on the smallest ones on which this can be, else on the
  // fewest that were found, as evenly as they allow.
  [[nodiscard]] Candidates Balance(const Leaves& fewest, Leaves leaves) const {
    Candidates anyhow = ChooseFewest(Joined(fewest), request_);
    const std::size_t count = anyhow.size();
    const std::size_t each = (count + fewest.size() - 1) / fewest.size();
    std::erase_if(leaves, [each](const TreeLeaf* leaf) { return leaf->nodes.size() < each; });
    std::sort(leaves.begin(), leaves.end(), HasFewerNodes);
    if (leaves.size() >= fewest.size()) {
      leaves.resize(fewest.size());
      Candidates even = Deal(leaves, count);
      if (!even.empty()) {
        return even;
      }
    }
    Candidates even = Deal(fewest, count);
    return even.empty() ? anyhow : even;
  }

  // `count` nodes of the leaves, the roomiest of each; none when they do not hold the job.
  [[nodiscard]] Candidates Deal(Leaves leaves, std::size_t count) const {
    std::sort(leaves.begin(), leaves.end(), HasFewerNodes);
    Candidates chosen;
    std::uint64_t tasks = 0;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      Candidates nodes(leaves[i]->nodes.begin(), leaves[i]->nodes.end());
      const std::size_t part =
          std::min(nodes.size(), (count - chosen.size()) / (leaves.size() - i));
      std::sort(nodes.begin(), nodes.end(), IsRoomier);
      nodes.resize(part);
      for (const CandidateNode& node : nodes) {
        tasks += node.room;
        chosen.push_back(node);
      }
    }
    return tasks >= request_.tasks ? chosen : Candidates();
  }

  const Candidates& candidates_;
  const ResourceRequest& request_;
  const NodeTree& tree_;
  Candidates by_leaf_;
  std::vector<TreeLeaf> leaves_;  // by switch
};

}  // namespace

std::vector<CandidateNode> ChooseInTree(const std::vector<CandidateNode>& candidates,
                                        const ResourceRequest& request, const NodeTree& tree) {
  return Chooser(candidates, request, tree).Choose();
}

bool LieAsAsked(const std::vector<NodeShare>& shares, const ResourceRequest& request,
                const NodeTree& tree) {
  return LieAsAsked(CountByLeaf(shares, &NodeShare::node, tree), request);
}

std::uint64_t RoomOnLeaves(const std::vector<CandidateNode>& candidates,
                           const ResourceRequest& request, const NodeTree& tree) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> leaves;
  for (const CandidateNode& candidate : candidates) {
    leaves[tree.LeafOf(candidate.position)].push_back(candidate.room);
  }
  std::vector<std::uint64_t> rooms;
  for (auto& [leaf, nodes] : leaves) {
    std::sort(nodes.rbegin(), nodes.rend());
    nodes.resize(std::min<std::size_t>(nodes.size(), request.max_nodes));
    rooms.push_back(std::accumulate(nodes.begin(), nodes.end(), std::uint64_t{0}));
  }
  std::sort(rooms.rbegin(), rooms.rend());
  rooms.resize(std::min<std::size_t>(rooms.size(), request.switches));
  return std::min<std::uint64_t>(std::accumulate(rooms.begin(), rooms.end(), std::uint64_t{0}),
                                 request.tasks);
}

}  // namespace muster::core
