#include "scheduler/core/plan/search/group_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "scheduler/core/place/nodes/node_timeline.h"
#include "scheduler/core/place/placement.h"
#include "scheduler/core/place/rank_layout.h"
#include "scheduler/core/state/tables/node_use.h"

namespace muster::core {
namespace {

// Up to this many components are tried in every order.
constexpr std::size_t kPermutedMax = 4;
// How many nodes are looked at, over all times, for a common start; then only the last time is.
constexpr std::size_t kLooksMax = 1U << 18;

// Whether the members fit together on the nodes that are up when nothing else runs.
bool FitWhenEmpty(const Snapshot& snapshot, std::vector<GroupMember> members) {
  Snapshot empty;
  empty.now = snapshot.now;
  empty.nodes = snapshot.nodes;
  empty.network = snapshot.network;
  for (NodeSnapshot& node : empty.nodes) {
    node.holdings.clear();
    node.taken = NodeUse();
    node.taken.gpus.resize(node.machine->gpus.size());
    node.gpu_occupants.clear();
  }
  std::vector<StartOption> options;
  std::size_t count = 0;
  for (const GroupMember& member : members) {
    count += member.options.size();
  }
  options.reserve(count);  // they are pointed to
  for (GroupMember& member : members) {
    for (const StartOption*& option : member.options) {
      options.push_back(option->anywhere == nullptr ? *option : *option->anywhere);
      options.back().need.reserved = nullptr;
      option = &options.back();
    }
  }
  Availability availability(empty);
  const PlannedNodes nodes(empty);
  return GroupSearch(empty, availability, nodes).FindNow(members).has_value();
}

}  // namespace

std::optional<Opening> FindPromised(const Snapshot& snapshot, const Availability& availability,
                                    JobId job, const Need& need, Time start) {
  const auto promise = std::lower_bound(
      snapshot.promised.begin(), snapshot.promised.end(), job,
      [](const PlannedReservation& reservation, JobId id) { return reservation.job < id; });
  if (promise == snapshot.promised.end() || promise->job != job) {
    return std::nullopt;
  }
  Opening opening{start, {}};
  std::uint32_t tasks = 0;
  for (const ReservedNode& reserved : promise->nodes) {
    const std::optional<std::uint32_t> node = PositionOf(snapshot, reserved.node);
    if (!node.has_value()) {
      return std::nullopt;
    }
    opening.shares.push_back(NodeShare{*node, reserved.tasks});
    tasks += reserved.tasks;
  }
  return tasks == need.request->tasks && availability.Fits(need, opening)
             ? std::optional(std::move(opening))
             : std::nullopt;
}

std::optional<Allocation> PlaceRanks(
    const Availability& availability, const Need& need, const Opening& opening,
    const std::function<const NodeSnapshot&(std::uint32_t)>& snapshot_of,
    std::uint32_t* too_small) {
  Allocation allocation;
  for (const NodeShare& share : opening.shares) {
    if (!AddPlaced(PlaceOnNode(snapshot_of(share.node), *need.request, share.tasks), share.tasks,
                   allocation)) {
      if (too_small != nullptr) {
        *too_small = share.node;
      }
      return std::nullopt;
    }
  }
  LayOutRanks(
      *need.request,
      [&](std::size_t i) -> const Machine& { return *snapshot_of(opening.shares[i].node).machine; },
      [&](std::size_t i) { return availability.inventory().LeafOf(opening.shares[i].node); },
      allocation);
  return allocation;
}

std::vector<GroupSearch::Order> GroupSearch::OrdersOf(std::size_t members) {
  Order order(members);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<Order> orders;
  if (members > kPermutedMax) {
    orders.push_back(order);
    orders.emplace_back(order.rbegin(), order.rend());
    return orders;
  }
  do {
    orders.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return orders;
}

std::optional<std::vector<MemberPlace>> GroupSearch::FindNow(
    const std::vector<GroupMember>& members) {
  return FindAt(members, snapshot_.now, true);
}

std::optional<std::vector<MemberPlace>> GroupSearch::FindAt(const std::vector<GroupMember>& members,
                                                            Time start, bool with_ranks) {
  for (const bool keep_promises : {true, false}) {
    for (const Order& order : OrdersOf(members.size())) {
      auto found = FindIn(order, members, start, keep_promises, with_ranks);
      if (found.has_value()) {
        return found;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::vector<MemberPlace>> GroupSearch::FindIn(const Order& order,
                                                            const std::vector<GroupMember>& members,
                                                            Time start, bool keep_promises,
                                                            bool with_ranks) {
  std::vector<MemberPlace> places(members.size());
  bool all = true;
  for (std::size_t i = 0; all && i < order.size(); ++i) {
    std::optional<MemberPlace> place = Take(members[order[i]], start, keep_promises, with_ranks);
    all = place.has_value();
    if (all) {
      places[order[i]] = *std::move(place);
    }
  }
  Undo();
  return all ? std::optional(std::move(places)) : std::nullopt;
}

std::optional<Opening> GroupSearch::OpeningOf(const GroupMember& member, const Need& need,
                                              Time start, bool keep_promises) {
  if (keep_promises) {
    std::optional<Opening> promised =
        FindPromised(snapshot_, availability_, member.job, need, start);
    if (promised.has_value()) {
      return promised;
    }
  }
  return start == snapshot_.now ? availability_.FindNow(need) : availability_.FindAt(need, start);
}

void GroupSearch::Hold(const Need& need, const MemberPlace& place, bool with_ranks) {
  for (std::size_t i = 0; i < place.opening.shares.size(); ++i) {
    const std::uint32_t node = place.opening.shares[i].node;
    before_.try_emplace(node, availability_.timeline(node));
    if (with_ranks) {
      NodeSnapshot& node_snapshot =
          node_snapshots_.try_emplace(node, SnapshotOf(node)).first->second;
      AddUse(node_snapshot.taken, *node_snapshot.machine, place.allocation.nodes[i]);
    }
  }
  availability_.Take(need, place.opening);
}

std::optional<MemberPlace> GroupSearch::Take(const GroupMember& member, Time start,
                                             bool keep_promises, bool with_ranks) {
  for (const StartOption* option : member.options) {
    const Need need = with_ranks ? needs_.now(option->need) : needs_.later(option->need);
    std::optional<Opening> opening = OpeningOf(member, need, start, keep_promises);
    if (!opening.has_value()) {
      continue;
    }
    MemberPlace place{option, *std::move(opening), {}};
    if (with_ranks) {
      std::optional<Allocation> allocation = PlaceRanks(
          availability_, need, place.opening,
          [this](std::uint32_t node) -> const NodeSnapshot& { return SnapshotOf(node); });
      if (!allocation.has_value()) {
        continue;
      }
      place.allocation = *std::move(allocation);
    }
    Hold(need, place, with_ranks);
    return place;
  }
  return std::nullopt;
}

void GroupSearch::Undo() {
  availability_.Restore(std::exchange(before_, {}));
  node_snapshots_.clear();
}

const NodeSnapshot& GroupSearch::SnapshotOf(std::uint32_t node) const {
  const auto trial = node_snapshots_.find(node);
  return trial == node_snapshots_.end() ? nodes_.At(node) : trial->second;
}

std::optional<std::vector<MemberPlace>> GroupSearch::FindEarliest(
    const std::vector<GroupMember>& members) {
  Time from = snapshot_.now;  // no earlier than the latest of what each could have alone
  std::vector<Time> times;
  for (const GroupMember& member : members) {
    Time alone = kFarFuture;
    for (const StartOption* option : member.options) {
      const std::optional<Opening> opening =
          availability_.FindEarliest(needs_.later(option->need), snapshot_.now);
      if (opening.has_value() && !opening->shares.empty()) {
        alone = std::min(alone, opening->start);
      }
      availability_.PlainQueryOf(option->need).AppendTimes(times);
    }
    from = std::max(from, alone);
  }
  if (from >= kFarFuture) {
    return std::nullopt;
  }
  times.push_back(from);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::size_t looks = 0;
  for (auto time = std::lower_bound(times.begin(), times.end(), from); time != times.end();
       ++time) {
    const bool last = time + 1 == times.end() || *(time + 1) >= kFarFuture;
    looks += snapshot_.nodes.size() * members.size();
    if (*time >= kFarFuture) {
      break;
    }
    if (looks > kLooksMax && !last) {
      continue;
    }
    auto found = FindAt(members, *time, false);
    if (found.has_value()) {
      return found;
    }
  }
  return std::nullopt;
}

std::vector<const WaitingJob*> GroupSearch::ComponentsOf(const WaitingJob& leader) {
  if (components_.empty()) {
    for (const WaitingJob& job : snapshot_.waiting) {
      if (job.het_size > 0) {
        components_[job.submission].push_back(&job);
      }
    }
    for (auto& [id, group] : components_) {
      std::sort(group.begin(), group.end(),
                [](const WaitingJob* a, const WaitingJob* b) { return a->id < b->id; });
    }
  }
  return components_[leader.submission];
}

bool GroupSearch::EverFit(const std::vector<GroupMember>& members) {
  std::vector<std::uint64_t> shapes;
  for (const GroupMember& member : members) {
    for (const StartOption* option : member.options) {
      shapes.push_back(option->need.shape);
    }
    shapes.push_back(0);
  }
  const auto [known, is_new] = ever_fit_.try_emplace(std::move(shapes), false);
  if (is_new) {
    known->second = FitWhenEmpty(snapshot_, members);
  }
  return known->second;
}

}  // namespace muster::core
