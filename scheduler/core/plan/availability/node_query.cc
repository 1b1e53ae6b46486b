#include "scheduler/core/plan/availability/node_query.h"

#include <algorithm>
#include <utility>

#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/nodes/narrow_choice.h"
#include "scheduler/core/place/nodes/tree_choice.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/plan/availability/keepers.h"

namespace muster::core {
namespace {

// True when one node may take all of it, whichever that is.
bool MayBeOnOne(const ResourceRequest& request) {
  return request.min_nodes == 1 && !NamesNodes(request);
}

// Whether the node takes all tasks now and for the job's whole time.
bool TakesAllNow(const NodeQuery& query, std::uint32_t node) {
  const std::uint32_t tasks = query.need().request->tasks;
  const Time now = query.nodes().inventory().now();
  const Time end = NeededUntil(now, query.need().duration);
  return query.Room(node, query.nodes().FreeNow(node)) >= tasks && query.IsOpenAt(node, now) &&
         query.Room(node, query.nodes().LeastFree(node, end)) >= tasks;
}

// Of the nodes like this one, which takes all tasks now, that do so too the first of those that
// lack least of what the job wants; the node itself where none lacks less.
std::uint32_t KeeperLike(const NodeQuery& query, std::uint32_t node) {
  const NodeInventory& nodes = query.nodes().inventory();
  const KeptMarks& marks = query.need().marks;
  std::size_t least = Lacks(nodes, marks, node);
  if (least == 0) {
    return node;
  }
  const FreeIndex::Key key = query.nodes().KeyOf(node);
  std::uint32_t best = node;
  for (const std::uint32_t keeper : KeepersOfAny(nodes, marks)) {
    const std::size_t lacks = Lacks(nodes, marks, keeper);
    if (lacks < least && query.nodes().KeyOf(keeper) == key && TakesAllNow(query, keeper)) {
      best = keeper;
      least = lacks;
    }
    if (least == 0) {
      break;
    }
  }
  return best;
}

}  // namespace

NodeDemand NodeQuery::DemandOn(std::uint32_t node, std::uint32_t tasks) const {
  const NodeInventory& inventory = nodes_.inventory();
  return DemandOf(inventory.capacity(node), demand_.scales[inventory.class_of(node)], tasks);
}

std::uint32_t NodeQuery::Room(std::uint32_t node, const FreeAmounts& free) const {
  const NodeInventory& inventory = nodes_.inventory();
  return RoomFor(free, inventory.capacity(node), demand_.scales[inventory.class_of(node)],
                 MostTasksOnNode(*need_.request));
}

std::uint32_t NodeQuery::UntakenRoom(std::uint32_t node) const {
  return IsOpenToShape(node) ? Room(node, nodes_.Untaken(node).now()) : 0;
}

Time NodeQuery::EarliestOn(const NodeTimeline& timeline, std::uint32_t node, std::uint32_t tasks,
                           Time from) const {
  const NodeDemand demand = DemandOn(node, tasks);
  while (true) {
    const Time fits = timeline.EarliestFit(demand, from, need_.duration);
    from = OpenFrom(node, fits);
    if (from == fits || from >= kFarFuture) {
      return from;
    }
  }
}

std::optional<Opening> NodeQuery::FindNow() const {
  Opening opening;
  opening.start = nodes_.inventory().now();
  if (MayBeOnOne(*need_.request)) {
    if (std::optional<Opening> on_one = FindOnOneNow(*this, SIZE_MAX)) {
      return on_one;
    }
    if (need_.request->max_nodes == 1) {
      return std::nullopt;
    }
  }
  opening.shares = SpreadAt(opening.start);
  return opening.shares.empty() ? std::nullopt : std::optional(std::move(opening));
}

std::optional<Opening> FindOnOneNow(const NodeQuery& query, std::size_t looks) {
  const ResourceRequest& request = *query.need().request;
  if (!MayBeOnOne(request)) {
    return std::nullopt;
  }
  const std::vector<std::uint32_t> tightest = query.WithRoomNow(1, looks);
  if (tightest.empty()) {
    return std::nullopt;
  }
  return Opening{query.nodes().inventory().now(),
                 {NodeShare{KeeperLike(query, tightest.front()), request.tasks}}};
}

std::optional<Opening> NodeQuery::FindNowAmong(const std::vector<NodeShare>& able) const {
  const std::uint32_t tasks = need_.request->tasks;
  const Time now = nodes_.inventory().now();
  const Time end = NeededUntil(now, need_.duration);
  std::vector<CandidateNode> candidates;
  for (const NodeShare& share : able) {
    const std::uint32_t node = share.node;
    if (!IsOpen(node)) {
      continue;
    }
    const std::uint32_t room =
        nodes_.untaken().Has(node) ? Room(node, nodes_.LeastFree(node, end)) : share.tasks;
    if (room > 0) {
      candidates.push_back(nodes_.Candidate(node, room));
    }
  }
  if (MayBeOnOne(*need_.request)) {
    const CandidateNode* tightest = nullptr;
    FreeIndex::Key least{};
    for (const CandidateNode& candidate : candidates) {
      if (candidate.room < tasks || MostTasksOnNode(*need_.request) < tasks) {
        continue;
      }
      const FreeIndex::Key key = nodes_.KeyOf(candidate.position);
      if (tightest == nullptr || key < least) {
        tightest = &candidate;
        least = key;
      }
    }
    if (tightest != nullptr) {
      return Opening{now, {NodeShare{KeeperLike(*this, tightest->position), tasks}}};
    }
    if (need_.request->max_nodes == 1) {
      return std::nullopt;
    }
  }
  Opening opening{now, Choose(std::move(candidates))};
  return opening.shares.empty() ? std::nullopt : std::optional(std::move(opening));
}

std::vector<NodeShare> NodeQuery::Choose(std::vector<CandidateNode> candidates) const {
  GiveTurns(nodes_.inventory(), need_.marks, candidates);
  return ChooseBesideLinks(std::move(candidates), *need_.request, nodes_.inventory().tree());
}

std::vector<NodeShare> NodeQuery::SpreadAt(Time start) const {
  return Choose(CandidatesAt(start));
}

std::vector<CandidateNode> NodeQuery::CandidatesAt(Time start) const {
  const NodeInventory& inventory = nodes_.inventory();
  const Time end = NeededUntil(start, need_.duration);
  const bool now = start == inventory.now();
  std::vector<CandidateNode> candidates;
  candidates.reserve(inventory.size());
  struct {
    std::uint32_t capacity = UINT32_MAX;
    FreeAmounts free;
    std::uint32_t room = 0;
  } last;  // many nodes in a row are alike
  for (std::uint32_t node = 0; node < inventory.size(); ++node) {
    if (!IsOpenAt(node, start)) {
      continue;
    }
    const FreeAmounts free =
        now ? nodes_.LeastFree(node, end) : nodes_.timeline(node).Least(start, end);
    if (inventory.class_of(node) != last.capacity || free != last.free) {
      last = {inventory.class_of(node), free, Room(node, free)};
    }
    if (last.room > 0) {
      candidates.push_back(nodes_.Candidate(node, last.room));
    }
  }
  return candidates;
}

std::vector<NodeShare> NodeQuery::Spread(const std::vector<std::uint32_t>& room) const {
  std::vector<CandidateNode> candidates;
  candidates.reserve(room.size());
  for (std::uint32_t node = 0; node < room.size(); ++node) {
    if (room[node] > 0) {
      candidates.push_back(nodes_.Candidate(node, room[node]));
    }
  }
  return Choose(std::move(candidates));
}

std::vector<NodeShare> NodeQuery::Contract(std::vector<NodeShare> able) const {
  std::stable_sort(able.begin(), able.end(),
                   [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  std::vector<CandidateNode> candidates;
  for (const NodeShare& share : able) {
    if (candidates.empty() || candidates.back().position != share.node) {
      candidates.push_back(nodes_.Candidate(share.node, share.tasks));
    }
  }
  return Choose(std::move(candidates));
}

std::uint32_t NodeQuery::CountNow(std::uint32_t tasks, std::uint32_t most) const {
  const Time now = nodes_.inventory().now();
  const Time end = NeededUntil(now, need_.duration);
  std::uint32_t count = 0;
  for (std::uint32_t node = 0; node < nodes_.inventory().size() && count < most; ++node) {
    if (IsOpenAt(node, now) && Room(node, nodes_.LeastFree(node, end)) >= tasks) {
      ++count;
    }
  }
  return count;
}

std::vector<std::uint32_t> NodeQuery::WithRoomNow(std::size_t most, std::size_t looks) const {
  std::vector<std::uint32_t> found;
  const std::uint32_t tasks = need_.request->tasks;
  if (MostTasksOnNode(*need_.request) < tasks) {
    return found;
  }
  nodes_.by_free().VisitWith(demand_.GpusFor(tasks), demand_.least_cores, [&](std::uint32_t node) {
    if (TakesAllNow(*this, node)) {
      found.push_back(node);
    }
    return --looks > 0 && found.size() < most;
  });
  return found;
}

std::uint64_t NodeQuery::RoomOnSwitches() const {
  return RoomOnLeaves(CandidatesAt(nodes_.inventory().now()), *need_.request,
                      *nodes_.inventory().tree());
}

bool NodeQuery::Fits(const Opening& opening) const {
  const Time end = NeededUntil(opening.start, need_.duration);
  return LieAsAsked(opening.shares) &&
         std::all_of(opening.shares.begin(), opening.shares.end(), [&](const NodeShare& share) {
           return IsOpenAt(share.node, opening.start) &&
                  Room(share.node, nodes_.timeline(share.node).Least(opening.start, end)) >=
                      share.tasks;
         });
}

bool NodeQuery::LieAsAsked(const std::vector<NodeShare>& shares) const {
  const ResourceRequest& request = *need_.request;
  const NodeTree* tree = nodes_.inventory().tree();
  const bool asks = request.switches > 0 || IsInSegments(request);
  return tree == nullptr || ((!asks || muster::core::LieAsAsked(shares, request, *tree)) &&
                             !SpannedLink(shares, *tree).has_value());
}

void NodeQuery::AppendTimes(std::vector<Time>& times) const {
  for (std::uint32_t node = 0; node < nodes_.inventory().size(); ++node) {
    if (IsOpen(node)) {
      nodes_.timeline(node).AppendTimes(times);
      if (need_.reserved != nullptr) {
        need_.reserved->AppendEnds(node, nodes_.inventory().now(), times);
      }
    }
  }
}

}  // namespace muster::core
