#include "scheduler/core/span.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "scheduler/base/status.h"
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

// The fewest candidates, at least min_nodes, that hold all tasks; the last of them as tight as can
// be. REQUIRES: sorted by room, most first.
std::vector<Candidate> Choose(const std::vector<Candidate>& candidates,
                              const ResourceRequest& request) {
  const std::size_t most = std::min<std::size_t>(candidates.size(), request.max_nodes);
  for (std::size_t count = request.min_nodes; count <= most; ++count) {
    if (SumOfFirst(candidates, count) < request.tasks) {
      continue;
    }
    std::vector<Candidate> chosen(candidates.begin(),
                                  candidates.begin() + static_cast<std::ptrdiff_t>(count) - 1);
    const std::uint64_t held = SumOfFirst(candidates, count - 1);
    const std::uint64_t rest = held < request.tasks ? request.tasks - held : 1;
    const Candidate* tightest = &candidates[count - 1];
    for (std::size_t i = count; i < candidates.size(); ++i) {
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
    if (view != ClusterView::kEmptyAll && (!node.up || node.drained)) {
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
  std::vector<Candidate> chosen = Choose(candidates, request);
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
