#include "agent/node/network/network_meter.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

namespace muster::agent {
std::map<pid_t, NetworkUse> NetworkMeter::Look(const ProcessTrees& trees,
                                               const std::set<pid_t>& resumed, SteadyTime now) {
  const std::optional<std::vector<TcpConnection>> connections =
      trees.empty() ? std::nullopt : source_();
  if (!connections.has_value()) {
    seen_.clear();
    known_.clear();
    cut_.clear();
    return {};
  }
  std::map<pid_t, NetworkUse> uses;
  const std::set<pid_t> elsewhere = TreesElsewhere(trees, proc_, bounds_.time);
  FindHolders(*connections, trees, resumed);
  for (const auto& [tree, processes] : trees) {
    if (elsewhere.count(tree) == 0 && cut_.count(tree) == 0) {
      uses.emplace(tree, NetworkUse());
    }
  }
  const Duration elapsed =
      seen_.empty() ? Duration(0) : std::chrono::duration_cast<Duration>(now - last_);
  std::unordered_map<std::uint64_t, Known> known;
  for (const TcpConnection& connection : *connections) {
    const auto found = known_.find(connection.cookie);
    if (found == known_.end()) {
      continue;
    }
    Known& one = known.emplace(connection.cookie, found->second).first->second;
    if (const auto use = uses.find(one.tree); use != uses.end()) {
      AddChange(one.counters, connection.counters,
                seen_.count(one.tree) == 0 ? std::nullopt : std::optional(elapsed), use->second);
      one.counters = connection.counters;
    }
  }
  known_ = std::move(known);
  seen_.clear();
  for (const auto& [tree, use] : uses) {
    seen_.insert(tree);
  }
  last_ = now;
  return uses;
}

void NetworkMeter::FindHolders(const std::vector<TcpConnection>& connections,
                               const ProcessTrees& trees, const std::set<pid_t>& resumed) {
  std::erase_if(cut_, [&](pid_t tree) { return trees.count(tree) == 0; });
  std::unordered_set<std::uint64_t> wanted;
  for (const TcpConnection& connection : connections) {
    if (!connection.local && connection.inode != 0) {
      Known& one = known_[connection.cookie];
      // In a tree that was cut there may be more of them than were searched for.
      if (one.tree == 0 && (one.searched < kSearches || !cut_.empty())) {
        one.searched = std::min(one.searched + 1, kSearches);
        wanted.insert(connection.inode);
      }
    }
  }
  if (wanted.empty()) {
    return;
  }
  const SearchResult found = search_.Search(wanted, trees);
  for (const pid_t tree : found.whole) {
    cut_.erase(tree);
  }
  cut_.insert(found.cut.begin(), found.cut.end());
  for (const TcpConnection& connection : connections) {
    const auto holder = found.holders.find(connection.inode);
    if (connection.local || holder == found.holders.end()) {
      continue;
    }
    Known& one = known_[connection.cookie];
    one.tree = holder->second;
    if (resumed.count(one.tree) != 0) {
      one.counters = connection.counters;
    }
  }
}

void NetworkMeter::AddChange(const TcpCounters& before, const TcpCounters& now,
                             std::optional<Duration> elapsed, NetworkUse& use) {
  const Bytes sent = GrownBy(now.sent, before.sent);
  use.sent += sent;
  use.received += GrownBy(now.received, before.received);
  if (!now.resent.has_value()) {
    use.resent.reset();
  } else if (use.resent.has_value()) {
    *use.resent += GrownBy(*now.resent, before.resent.value_or(Bytes()));
  }
  if (!now.busy.has_value()) {
    use.blocked.reset();
  } else if (use.blocked.has_value()) {
    const std::chrono::duration<double> at_slowest(
        static_cast<double>((sent + now.queued).value()) / kSlowest);
    const std::chrono::duration<double> busy =
        *now.busy - before.busy.value_or(std::chrono::microseconds(0));
    const auto blocked = std::chrono::duration_cast<Duration>(std::min(busy, at_slowest));
    use.blocked = std::max(*use.blocked, std::min(blocked, elapsed.value_or(blocked)));
  }
}

}  // namespace muster::agent
