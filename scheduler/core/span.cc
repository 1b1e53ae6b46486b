#include "scheduler/core/span.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/core/feature_match.h"
#include "scheduler/core/placement.h"

namespace muster {
namespace {

struct Candidate {
  const NodePicture* node = nullptr;
  std::uint32_t fits = 0;   // tasks that it can hold
  std::uint32_t tasks = 0;  // tasks that it is given
  std::uint32_t cores = 0;  // free cores: the fewer, the tighter
};

NodePicture Emptied(const NodePicture& node) {
  NodePicture empty = node;
  empty.taken = NodeUse();
  return empty;
}

// Each candidate gets one task, the rest go round by round to those with room.
void Deal(std::vector<Candidate>& chosen, std::uint32_t tasks) {
  while (tasks > 0) {
    const std::uint32_t before = tasks;
    for (Candidate& candidate : chosen) {
      if (tasks > 0 && candidate.tasks < candidate.fits) {
        ++candidate.tasks;
        --tasks;
      }
    }
    MUSTER_CHECK(tasks < before);
  }
}

std::uint64_t SumOfFirst(const std::vector<Candidate>& candidates, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += candidates[i].fits;
  }
  return sum;
}

bool IsTighter(const Candidate& a, const Candidate& b) {
  return a.cores != b.cores ? a.cores < b.cores : a.node->id < b.node->id;
}

// Moves the candidates that the job must have to the front; how many they are, or nothing when they
// cannot be had.
std::optional<std::size_t> PutFirst(std::vector<Candidate>& candidates,
                                    const ResourceRequest& request) {
  if (!NamesNodes(request)) {
    return 0;
  }
  std::vector<const NodePicture*> nodes;
  for (const Candidate& candidate : candidates) {
    nodes.push_back(candidate.node);
  }
  const std::optional<std::vector<std::size_t>> must = MustHave(nodes, request);
  if (!must.has_value()) {
    return std::nullopt;
  }
  std::vector<NodeId> first;
  for (const std::size_t position : *must) {
    first.push_back(nodes[position]->id);
  }
  std::stable_partition(candidates.begin(), candidates.end(), [&first](const Candidate& candidate) {
    return std::find(first.begin(), first.end(), candidate.node->id) != first.end();
  });
  return first.size();
}

// The fewest candidates, at least min_nodes and the first `fixed`, that hold all tasks; the last of
// them as tight as can be. REQUIRES: sorted by room, most first, behind the fixed ones.
std::vector<Candidate> Choose(const std::vector<Candidate>& candidates, std::size_t fixed,
                              const ResourceRequest& request) {
  const std::size_t most = std::min<std::size_t>(candidates.size(), request.max_nodes);
  for (std::size_t count = std::max<std::size_t>(request.min_nodes, fixed); count <= most;
       ++count) {
    if (SumOfFirst(candidates, count) < request.tasks) {
      continue;
    }
    std::vector<Candidate> chosen(candidates.begin(),
                                  candidates.begin() + static_cast<std::ptrdiff_t>(count) - 1);
    const std::uint64_t held = SumOfFirst(candidates, count - 1);
    const std::uint64_t rest = held < request.tasks ? request.tasks - held : 1;
    const Candidate* tightest = &candidates[count - 1];
    for (std::size_t i = count; count > fixed && i < candidates.size(); ++i) {
      if (candidates[i].fits >= rest && IsTighter(candidates[i], *tightest)) {
        tightest = &candidates[i];
      }
    }
    chosen.push_back(*tightest);
    return chosen;
  }
  return {};
}

bool ByRoom(const Candidate& a, const Candidate& b) {
  if (a.fits != b.fits) {
    return a.fits > b.fits;
  }
  return a.cores != b.cores ? a.cores < b.cores : a.node->id < b.node->id;
}

// As Choose, of the lightest nodes that do: heavier ones are looked at only where they are needed.
std::vector<Candidate> ChooseByWeight(std::vector<Candidate> candidates,
                                      const ResourceRequest& request) {
  std::set<std::uint32_t> weights;
  for (const Candidate& candidate : candidates) {
    weights.insert(candidate.node->weight);
  }
  for (const std::uint32_t weight : weights) {
    std::vector<Candidate> light;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(light),
                 [weight](const Candidate& candidate) { return candidate.node->weight <= weight; });
    const std::optional<std::size_t> fixed = PutFirst(light, request);
    std::vector<Candidate> chosen =
        fixed.has_value() ? Choose(light, *fixed, request) : std::vector<Candidate>();
    if (!chosen.empty()) {
      return chosen;
    }
  }
  return {};
}

bool ById(const Candidate& a, const Candidate& b) {
  return a.node->id < b.node->id;
}

}  // namespace

std::optional<Allocation> PlaceJob(const std::vector<NodePicture>& nodes,
                                   const ResourceRequest& request, ClusterView view) {
  const std::uint32_t limit = request.tasks_per_node > 0 ? request.tasks_per_node : request.tasks;
  std::vector<NodePicture> emptied;
  emptied.reserve(view == ClusterView::kAsIs ? 0 : nodes.size());
  std::vector<Candidate> candidates;
  for (const NodePicture& node : nodes) {
    if ((view != ClusterView::kEmptyAll && (!node.up || node.drained)) || !NodeMay(node, request)) {
      continue;
    }
    const NodePicture* picture = &node;
    if (view != ClusterView::kAsIs) {
      emptied.push_back(Emptied(node));
      picture = &emptied.back();
    }
    const std::uint32_t fits = PlaceOnNode(*picture, request, limit).tasks;
    if (fits > 0) {
      candidates.push_back(Candidate{picture, fits, 0, FreeCores(*picture)});
    }
  }
  std::sort(candidates.begin(), candidates.end(), ByRoom);
  std::vector<Candidate> chosen = ChooseByWeight(std::move(candidates), request);
  if (chosen.empty()) {
    return std::nullopt;
  }
  std::sort(chosen.begin(), chosen.end(), ById);
  Deal(chosen, request.tasks);
  Allocation allocation;
  std::uint32_t first_rank = 0;
  for (const Candidate& candidate : chosen) {
    Placed placed = PlaceOnNode(*candidate.node, request, candidate.tasks);
    MUSTER_CHECK(placed.tasks == candidate.tasks);
    for (RankPlacement& rank : placed.allocation.ranks) {
      rank.rank += first_rank;
    }
    first_rank += placed.tasks;
    allocation.nodes.push_back(std::move(placed.allocation));
  }
  return allocation;
}

}  // namespace muster
