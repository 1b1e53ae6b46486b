#include "scheduler/core/share/fair_tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "scheduler/base/status.h"
#include "scheduler/base/wide_number.h"
#include "scheduler/core/share/decay.h"

namespace muster::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Far above the rounding of `approximate`: numbers further apart need no exact comparison.
constexpr double kNear = 1e-12;

// LF = (shares * account_usage) / (level_shares * usage).
struct LevelFairshare {
  double approximate = 0;  // 0 and infinity are exact
  std::uint64_t shares = 0;
  std::uint64_t level_shares = 0;
  absl::uint128 usage = 0;
  absl::uint128 account_usage = 0;
};

LevelFairshare LevelFairshareOf(const ShareTree& tree, const ShareNode& node) {
  LevelFairshare level;
  if (node.shares == kParentShares) {
    level.approximate = node.user ? kInfinity : 0.0;
    return level;
  }
  level.shares = node.shares.value();
  level.level_shares = node.level_shares;
  level.usage = node.usage;
  level.account_usage = tree.nodes[node.account].usage;
  if (level.shares != 0) {
    level.approximate =
        level.usage == 0
            ? kInfinity
            : (static_cast<double>(level.shares) * static_cast<double>(level.account_usage)) /
                  (static_cast<double>(level.level_shares) * static_cast<double>(level.usage));
  }
  return level;
}

// Below 0 when `a` is less than `b`, 0 when they are equal.
int Compare(const LevelFairshare& a, const LevelFairshare& b) {
  const bool exact =
      a.approximate == 0 || b.approximate == 0 || std::isinf(a.approximate) ||
      std::isinf(b.approximate) ||
      std::abs(a.approximate - b.approximate) > kNear * std::max(a.approximate, b.approximate);
  if (exact) {
    return a.approximate < b.approximate ? -1 : static_cast<int>(a.approximate > b.approximate);
  }
  return CompareFractions({a.shares, a.account_usage}, {a.level_shares, a.usage},
                          {b.shares, b.account_usage}, {b.level_shares, b.usage});
}

class Ranking {
 public:
  explicit Ranking(const ShareTree& tree)
      : tree_(tree), ranks_(tree.nodes.size(), 0), next_(tree.nodes.front().users) {
    level_fs_.reserve(tree.nodes.size());
    for (const ShareNode& node : tree.nodes) {
      level_fs_.push_back(LevelFairshareOf(tree, node));
    }
  }

  void Run() { RankSiblings(tree_.nodes.front().children, false); }
  std::uint32_t rank(std::uint32_t node) const { return ranks_[node]; }
  double level_fs(std::uint32_t node) const { return level_fs_[node].approximate; }

 private:
  using Nodes = std::vector<std::uint32_t>;

  // Ranks all users at and below `siblings`; `tied`: the first of them has the rank given last.
  void RankSiblings(Nodes siblings, bool tied) {
    siblings.erase(std::remove_if(siblings.begin(), siblings.end(),
                                  [this](std::uint32_t node) { return Of(node).users == 0; }),
                   siblings.end());
    std::sort(siblings.begin(), siblings.end(),
              [this](std::uint32_t a, std::uint32_t b) { return Before(a, b); });
    for (auto first = siblings.begin(); first != siblings.end();) {
      const auto last = std::find_if(first + 1, siblings.end(), [this, first](std::uint32_t node) {
        return Compare(level_fs_[*first], level_fs_[node]) != 0;
      });
      RankGroup(Nodes(first, last), tied);
      tied = false;
      first = last;
    }
  }

  // Siblings of equal LF, users first.
  void RankGroup(const Nodes& group, bool tied) {
    Nodes merged;
    for (const std::uint32_t node : group) {
      if (Of(node).user) {
        rank_ = tied ? rank_ : next_;
        tied = true;
        ranks_[node] = rank_;
        --next_;
      } else {
        merged.insert(merged.end(), Of(node).children.begin(), Of(node).children.end());
      }
    }
    if (!merged.empty()) {
      RankSiblings(std::move(merged), tied);
    }
  }

  // By LF from the highest, then users before accounts; what is still equal shares its fate.
  bool Before(std::uint32_t a, std::uint32_t b) const {
    const int order = Compare(level_fs_[a], level_fs_[b]);
    return order != 0 ? order > 0 : Of(a).user && !Of(b).user;
  }

  const ShareNode& Of(std::uint32_t node) const { return tree_.nodes[node]; }

  const ShareTree& tree_;
  std::vector<LevelFairshare> level_fs_;
  std::vector<std::uint32_t> ranks_;
  std::uint32_t rank_ = 0;  // given last
  std::uint32_t next_ = 0;  // for whoever is not tied
};

ShareStatus StatusOf(const ShareTree& tree, std::uint32_t index, const Ranking& ranking) {
  const ShareNode& node = tree.nodes[index];
  ShareStatus status;
  status.usage = UsageOf(node.usage, tree.period);
  status.norm_shares = LevelShares(tree, index);
  status.norm_usage = RatioOrZero(node.usage, tree.nodes.front().usage);
  status.effectv_usage = RatioOrZero(node.usage, tree.nodes[node.account].usage);
  status.level_fs = ranking.level_fs(index);
  return status;
}

}  // namespace

Factor RankFactor(std::uint32_t rank, std::size_t count) {
  MUSTER_CHECK(rank <= count);
  return count == 0 ? Factor()
                    : Factor(static_cast<std::uint32_t>(std::uint64_t{rank} * kWholeFactor.value() /
                                                        count));
}

ShareStatuses FairTree(const AccountTree& tree) {
  const ShareTree indexed = IndexTree(tree);
  Ranking ranking(indexed);
  ranking.Run();
  ShareStatuses statuses;
  statuses.root = StatusOf(indexed, 0, ranking);
  for (const std::uint32_t node : indexed.account_nodes) {
    statuses.accounts.push_back(StatusOf(indexed, node, ranking));
  }
  const std::size_t count = tree.associations.size();
  for (const std::uint32_t node : indexed.association_nodes) {
    ShareStatus status = StatusOf(indexed, node, ranking);
    status.rank = ranking.rank(node);
    status.factor = RankFactor(status.rank, count);
    status.fairshare = static_cast<double>(status.rank) / static_cast<double>(count);
    statuses.associations.push_back(status);
  }
  return statuses;
}

}  // namespace muster::core
