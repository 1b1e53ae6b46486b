#include "scheduler/core/place/nodes/narrow_choice.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/contains.h"
#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/nodes/node_choice.h"

namespace muster::core {
namespace {

using Candidates = std::vector<CandidateNode>;

bool IsOn(std::uint32_t node, std::uint32_t side, const NodeTree& tree) {
  return Contains(tree.SidesOf(node), side);
}

Candidates WithoutSide(const Candidates& candidates, std::uint32_t side, const NodeTree& tree) {
  Candidates left;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(left),
               [&](const CandidateNode& node) { return !IsOn(node.position, side, tree); });
  return left;
}

std::uint64_t RoomOf(const Candidates& candidates) {
  std::uint64_t room = 0;
  for (const CandidateNode& candidate : candidates) {
    room += candidate.room;
  }
  return room;
}

// The level of the lowest switch above all of them.
std::uint32_t SpanOf(const std::vector<NodeShare>& shares, const NodeTree& tree) {
  std::uint32_t above = tree.LeafOf(shares.front().node);
  for (const NodeShare& share : shares) {
    std::uint32_t at = tree.LeafOf(share.node);
    while (at != above) {  // a parent stands before its children
      std::uint32_t& later = at > above ? at : above;
      later = tree.ParentOf(later);
    }
  }
  return tree.LevelOf(above);
}

class SideSearch {
 public:
  SideSearch(const ResourceRequest& request, const NodeTree& tree)
      : request_(request), tree_(tree) {}

  std::vector<NodeShare> Find(const Candidates& candidates) {
    Look(candidates);
    return std::move(best_);
  }

 private:
  // How good a choice is; the less, the better.
  using Worth = std::tuple<std::uint32_t, std::uint32_t, std::size_t>;

  void Look(const Candidates& candidates) {
    ++looks_;
    std::vector<NodeShare> shares = ChooseNodes(candidates, request_, &tree_);
    if (shares.empty()) {
      return;
    }
    const std::optional<std::size_t> link = SpannedLink(shares, tree_);
    if (!link.has_value()) {
      Note(candidates, std::move(shares));
      return;
    }
    const auto side = static_cast<std::uint32_t>(2 * *link);
    const Candidates first = WithoutSide(candidates, side + 1, tree_);
    const Candidates second = WithoutSide(candidates, side, tree_);
    if (looks_ < kSideLooks) {
      Look(first);
      Look(second);
    } else if (best_.empty()) {
      Look(RoomOf(first) >= RoomOf(second) ? first : second);
    }
  }

  void Note(const Candidates& candidates, std::vector<NodeShare> shares) {
    std::uint32_t heaviest = 0;
    for (const CandidateNode& candidate : candidates) {
      const auto share = std::lower_bound(
          shares.begin(), shares.end(), candidate.position,
          [](const NodeShare& one, std::uint32_t position) { return one.node < position; });
      if (share != shares.end() && share->node == candidate.position) {
        heaviest = std::max(heaviest, candidate.weight);
      }
    }
    const Worth worth(heaviest, SpanOf(shares, tree_), shares.size());
    if (best_.empty() || worth < worth_) {
      best_ = std::move(shares);
      worth_ = worth;
    }
  }

  const ResourceRequest& request_;
  const NodeTree& tree_;
  std::vector<NodeShare> best_;
  Worth worth_;
  std::size_t looks_ = 0;
};

}  // namespace

std::vector<NodeShare> ChooseBesideLinks(Candidates candidates, const ResourceRequest& request,
                                         const NodeTree* tree) {
  return tree == nullptr || tree->links().empty() || !MaySpanNodes(request)
             ? ChooseNodes(std::move(candidates), request, tree)
             : SideSearch(request, *tree).Find(candidates);
}

std::optional<std::size_t> SpannedLink(const std::vector<NodeShare>& shares, const NodeTree& tree) {
  std::vector<bool> there(2 * tree.links().size(), false);
  for (const NodeShare& share : there.empty() ? std::vector<NodeShare>() : shares) {
    for (const std::uint32_t side : tree.SidesOf(share.node)) {
      there[side] = true;
    }
  }
  for (std::size_t link = 0; link < tree.links().size(); ++link) {
    if (there[2 * link] && there[2 * link + 1]) {
      return link;
    }
  }
  return std::nullopt;
}

void MarkSide(std::uint32_t side, const NodeTree& tree, std::vector<bool>& marked) {
  for (std::uint32_t node = 0; node < marked.size(); ++node) {
    marked[node] = marked[node] || IsOn(node, side, tree);
  }
}

void MarkAcross(std::uint32_t node, const NodeTree& tree, std::vector<bool>& marked) {
  for (const std::uint32_t side : tree.SidesOf(node)) {
    MarkSide(side ^ 1U, tree, marked);
  }
}

std::string NamesOf(const NarrowLink& link) {
  return absl::StrCat(link.first, " and ", link.second);
}

}  // namespace muster::core
