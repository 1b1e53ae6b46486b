#include "scheduler/core/plan/availability/earliest_search.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/plan/availability/keepers.h"

namespace muster::core {
namespace {

// How many nodes are looked at, over all times, for a division of the tasks that starts earlier
// than the plain one. On large clusters a reservation may so be later than it need be; the job is
// still started when it fits.
constexpr std::size_t kUnevenLooks = 1U << 16;
// Changed nodes that a queue gets again in each cycle before they are worked into it.
constexpr std::size_t kChangesAside = 32;

Opening Never() {
  return Opening{kFarFuture, {}};
}

// When, from that time on, the node first takes that many of the tasks.
Time TakesFrom(const NodeQuery& query, std::uint32_t tasks, std::uint32_t node, Time from) {
  return query.EarliestOn(query.nodes().timeline(node), node, tasks, from);
}

// To when at least they fit there, if they do at `fits`.
Time TakesUntil(const NodeQuery& query, std::uint32_t tasks, std::uint32_t node, Time fits) {
  return query.need().reserved != nullptr || fits >= kFarFuture
             ? fits
             : query.nodes().timeline(node).FitsUntil(query.DemandOn(node, tasks), fits,
                                                      query.need().duration);
}

}  // namespace

// A node of the queue that may take a part at the time looked at.
struct EarliestSearch::Popped {
  Time exact;
  std::uint32_t node;
  Time fits;   // the earliest from the time looked at on
  Time until;  // to which it fits, at least
};

void EarliestSearch::Renew(const NodeQuery& query) {
  if (!lasting_ || query.need().reserved != nullptr) {
    parts_.reset();
  }
  if (parts_.has_value()) {
    for (Part& part : *parts_) {
      if (part.queue.filled()) {
        RenewQueue(query, part);
      }
    }
  }
}

bool EarliestSearch::EverFits(const NodeQuery& query) {
  if (!parts_.has_value()) {
    FindParts(query);
  }
  return !parts_->empty();
}

void EarliestSearch::FindParts(const NodeQuery& query) {
  const NodeInventory& inventory = query.nodes().inventory();
  std::vector<std::uint32_t> room(inventory.size(), 0);
  std::uint32_t most = 0;
  std::uint32_t least = UINT32_MAX;
  for (std::uint32_t node = 0; node < room.size(); ++node) {
    const bool ever =
        query.IsOpenToShape(node) && query.OpenFrom(node, inventory.now()) < kFarFuture;
    room[node] = ever ? query.Room(node, inventory.capacity(node).all) : 0;
    most = std::max(most, room[node]);
    least = room[node] > 0 ? std::min(least, room[node]) : least;
  }
  const ResourceRequest& request = *query.need().request;
  // Else which of the nodes are chosen, and so what the parts are, hangs on what is free of them.
  lasting_ = query.need().reserved == nullptr && !NamesNodes(request) &&
             (request.max_nodes == 1 || request.tasks == request.min_nodes || least >= most);
  std::map<std::uint32_t, Part, std::greater<>> parts;  // the largest first
  for (const NodeShare& share : query.Spread(room)) {
    Part& part = parts[share.tasks];
    part.tasks = share.tasks;
    ++part.nodes;
  }
  parts_.emplace();
  for (auto& [tasks, part] : parts) {
    parts_->push_back(std::move(part));
  }
}

void EarliestSearch::AddBound(const NodeQuery& query, const Part& part, std::uint32_t node,
                              std::vector<EarliestQueue::Entry>& bounds) {
  const NodeInventory& inventory = query.nodes().inventory();
  if (query.IsOpenToShape(node) && query.Room(node, inventory.capacity(node).all) >= part.tasks) {
    bounds.emplace_back(
        query.EarliestOn(query.nodes().Untaken(node), node, part.tasks, inventory.now()), node);
  }
}

void EarliestSearch::FillQueue(const NodeQuery& query, Part& part) {
  const std::size_t nodes = query.nodes().inventory().size();
  std::vector<EarliestQueue::Entry> bounds;
  bounds.reserve(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    AddBound(query, part, node, bounds);
  }
  part.queue.Fill(std::move(bounds), query.nodes().changes().mark());
}

void EarliestSearch::RenewQueue(const NodeQuery& query, Part& part) {
  const ChangeLog& log = query.nodes().changes();
  std::vector<std::uint32_t> changed;
  log.AppendSince(part.queue.mark(), changed);
  std::vector<EarliestQueue::Entry> bounds;
  for (const std::uint32_t node : changed) {
    AddBound(query, part, node, bounds);
  }
  if (changed.size() > kChangesAside) {
    part.queue.Renew(bounds, log);
  } else {
    part.queue.Restart(bounds);
  }
}

Opening EarliestSearch::Find(const NodeQuery& query, Time from, Time before) {
  const Need& need = query.need();
  // Which of the nodes it must have are free when is a question for the search below.
  const bool named = NamesNodes(*need.request);
  const bool even = need.request->max_nodes == 1 || need.request->tasks == need.request->min_nodes;
  if (!even || named) {  // else the parts' queues are quicker than the sum
    from = query.nodes().InAll().EarliestFit(query.demand().Least(), from, need.duration);
    if (from >= before) {
      return Never();
    }
  }
  Opening opening = named ? Never() : GatherParts(query, from, before);
  if (!named && opening.shares.empty() && opening.start < kFarFuture) {
    return FindUneven(query, opening.start, before).value_or(Never());
  }
  if (even && !named) {
    return opening;
  }
  return FindUneven(query, from, std::min(opening.start, before)).value_or(opening);
}

Opening EarliestSearch::GatherParts(const NodeQuery& query, Time from, Time before) {
  const bool has_tree = query.nodes().inventory().tree() != nullptr;
  Opening opening;
  opening.start = from;
  std::vector<NodeShare> able;  // all that take a part then, with the largest such
  for (bool settled = false; !settled;) {
    settled = true;
    opening.shares.clear();
    able.clear();
    std::set<std::uint32_t> used;
    for (Part& part : *parts_) {
      if (!part.queue.filled()) {
        FillQueue(query, part);
      }
      std::vector<std::uint32_t> fitting;
      const std::optional<Time> time = Gather(query, part, opening.start, before, used, fitting);
      if (!time.has_value()) {
        return Never();
      }
      settled = settled && (opening.shares.empty() || *time == opening.start);
      opening.start = *time;
      for (std::size_t i = 0; i < part.nodes; ++i) {
        used.insert(fitting[i]);
        opening.shares.push_back(NodeShare{fitting[i], part.tasks});
      }
      for (std::size_t i = 0; has_tree && i < fitting.size(); ++i) {
        able.push_back(NodeShare{fitting[i], part.tasks});
      }
    }
  }
  if (has_tree && opening.shares.size() > 1) {
    opening.shares = query.Contract(std::move(able));
    return opening;
  }
  std::sort(opening.shares.begin(), opening.shares.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  return opening;
}

void EarliestSearch::PopUntil(const NodeQuery& query, Part& part, Time time,
                              std::vector<Popped>& popped) {
  const ClusterTimelines& nodes = query.nodes();
  EarliestQueue& queue = part.queue;
  while (queue.Next(nodes.changes()) <= time) {
    if (queue.Spent()) {
      FillQueue(query, part);
      popped.clear();
      continue;
    }
    const std::uint32_t node = queue.Pop(nodes.changes()).second;
    const Time exact = TakesFrom(query, part.tasks, node, nodes.inventory().now());
    if (exact > time) {
      queue.Push({exact, node});
    } else {
      popped.push_back(Popped{exact, node, exact, TakesUntil(query, part.tasks, node, exact)});
    }
  }
}

Time EarliestSearch::TakersAt(const NodeQuery& query, const Part& part, Time time,
                              const std::set<std::uint32_t>& used, std::vector<Popped>& popped,
                              std::vector<std::uint32_t>& fitting) {
  Time next = Time::max();
  fitting.clear();
  for (Popped& look : popped) {
    if (used.contains(look.node)) {
      continue;
    }
    if (time > look.until) {
      look.fits = TakesFrom(query, part.tasks, look.node, time);
      look.until = TakesUntil(query, part.tasks, look.node, look.fits);
    }
    if (look.fits <= time) {
      fitting.push_back(look.node);
    } else {
      next = std::min(next, look.fits);
    }
  }
  return next;
}

std::optional<Time> EarliestSearch::Gather(const NodeQuery& query, Part& part, Time from,
                                           Time before, const std::set<std::uint32_t>& used,
                                           std::vector<std::uint32_t>& fitting) {
  EarliestQueue& queue = part.queue;
  std::vector<Popped> popped;
  Time time = from;
  while (true) {
    PopUntil(query, part, time, popped);
    const Time next = std::min(queue.Next(query.nodes().changes()),
                               TakersAt(query, part, time, used, popped, fitting));
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
  PutKeepersFirst(query.nodes().inventory(), query.need().marks, part.nodes, fitting);
  return time;
}

std::optional<Opening> EarliestSearch::FindUneven(const NodeQuery& query, Time from, Time before) {
  const Need& need = query.need();
  const std::size_t nodes = query.nodes().inventory().size();
  if (nodes > kUnevenLooks) {
    return std::nullopt;
  }
  if (need.reserved != nullptr) {
    return FindUnevenBeside(query, from, before);
  }
  const CoresAndGpus least = query.demand().Least();
  std::size_t looks = 0;
  const FreeInAll& sum = query.nodes().InAll();
  for (Time time = sum.EarliestFit(least, from, need.duration);
       time < before && time < kFarFuture && looks + nodes <= kUnevenLooks;
       time = sum.EarliestFit(least, sum.NextChange(time), need.duration)) {
    looks += nodes;
    std::vector<NodeShare> shares = query.SpreadAt(time);
    if (!shares.empty()) {
      return Opening{time, std::move(shares)};
    }
  }
  return std::nullopt;
}

std::optional<Opening> EarliestSearch::FindUnevenBeside(const NodeQuery& query, Time from,
                                                        Time before) {
  std::vector<Time> times = {from};
  query.AppendTimes(times);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::size_t looks = 0;
  for (auto time = std::lower_bound(times.begin(), times.end(), from); time != times.end();
       ++time) {
    looks += query.nodes().inventory().size();
    if (*time >= before || looks > kUnevenLooks) {
      break;
    }
    std::vector<NodeShare> shares = query.SpreadAt(*time);
    if (!shares.empty()) {
      return Opening{*time, std::move(shares)};
    }
  }
  return std::nullopt;
}

}  // namespace muster::core
