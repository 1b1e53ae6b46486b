#include "scheduler/core/place/nodes/segment_choice.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace muster::core {
namespace {

using Candidates = std::vector<CandidateNode>;

// A leaf's nodes, the roomiest first, of which every `segment` in a row are a segment.
struct SegmentLeaf {
  Candidates nodes;
  std::vector<std::uint64_t> tasks;  // that each segment takes; the most first
};

std::vector<SegmentLeaf> Divide(std::vector<Candidates> groups, const ResourceRequest& request) {
  std::vector<SegmentLeaf> leaves;
  for (Candidates& nodes : groups) {
    std::sort(nodes.begin(), nodes.end(), IsRoomier);
    SegmentLeaf leaf;
    leaf.tasks.resize(nodes.size() / request.segment);
    nodes.resize(leaf.tasks.size() * request.segment);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      leaf.tasks[i / request.segment] += nodes[i].room;
    }
    leaf.nodes = std::move(nodes);
    if (!leaf.tasks.empty()) {
      leaves.push_back(std::move(leaf));
    }
  }
  return leaves;
}

// The segments of each leaf: the roomiest of all that hold the job together.
std::optional<std::vector<std::size_t>> Roomiest(const std::vector<SegmentLeaf>& leaves,
                                                 const ResourceRequest& request) {
  std::vector<std::pair<std::uint64_t, std::size_t>> segments;
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    for (const std::uint64_t tasks : leaves[leaf].tasks) {
      segments.emplace_back(tasks, leaf);
    }
  }
  std::stable_sort(segments.begin(), segments.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::size_t> counts(leaves.size());
  std::uint64_t tasks = 0;
  std::uint64_t nodes = 0;
  for (const auto& [held, leaf] : segments) {
    tasks += held;
    nodes += request.segment;
    ++counts[leaf];
    if (nodes > request.max_nodes) {
      return std::nullopt;
    }
    if (tasks >= request.tasks && nodes >= request.min_nodes) {
      return counts;
    }
  }
  return std::nullopt;
}

// As many segments on as few leaves as they fit on.
std::vector<std::size_t> OnFewest(const std::vector<SegmentLeaf>& leaves, std::size_t missing) {
  std::vector<std::size_t> order(leaves.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&leaves](std::size_t a, std::size_t b) {
    return leaves[a].tasks.size() > leaves[b].tasks.size();
  });
  std::vector<std::size_t> counts(leaves.size());
  for (std::size_t i = 0; i < order.size() && missing > 0; ++i) {
    std::size_t last = i;
    while (last + 1 < order.size() && leaves[order[last + 1]].tasks.size() >= missing) {
      ++last;
    }
    const std::size_t chosen = leaves[order[i]].tasks.size() >= missing ? order[last] : order[i];
    counts[chosen] = std::min(missing, leaves[chosen].tasks.size());
    missing -= counts[chosen];
  }
  return counts;
}

}  // namespace

std::vector<CandidateNode> ChooseSegments(std::vector<std::vector<CandidateNode>> leaves,
                                          const ResourceRequest& request) {
  const std::vector<SegmentLeaf> divided = Divide(std::move(leaves), request);
  const std::optional<std::vector<std::size_t>> roomiest = Roomiest(divided, request);
  if (!roomiest.has_value()) {
    return {};
  }
  std::size_t segments = 0;
  for (const std::size_t count : *roomiest) {
    segments += count;
  }
  const auto nodes_of = [&](const std::vector<std::size_t>& counts) {
    Candidates nodes;
    for (std::size_t leaf = 0; leaf < counts.size(); ++leaf) {
      const auto end = static_cast<std::ptrdiff_t>(counts[leaf] * request.segment);
      nodes.insert(nodes.end(), divided[leaf].nodes.begin(), divided[leaf].nodes.begin() + end);
    }
    return nodes;
  };
  Candidates chosen = nodes_of(OnFewest(divided, segments));
  std::uint64_t tasks = 0;
  for (const CandidateNode& node : chosen) {
    tasks += node.room;
  }
  return tasks >= request.tasks ? chosen : nodes_of(*roomiest);
}

bool AreSegments(const std::map<std::uint32_t, std::uint32_t>& nodes_of_leaf,
                 const ResourceRequest& request) {
  return std::all_of(nodes_of_leaf.begin(), nodes_of_leaf.end(),
                     [&request](const auto& leaf) { return leaf.second % request.segment == 0; });
}

}  // namespace muster::core
