// How a pass starts a job: which of the places with room it takes, and what is left then.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "scheduler/core/plan/pass.h"
#include "scheduler/core/state/books/node_use.h"

namespace muster {
namespace {

// Nodes that are tried one after the other when what is free of them does not lie as it counts.
constexpr int kTries = 16;

}  // namespace

bool Pass::TryStart(const WaitingJob& job, const StartOption& asked, std::optional<Reason>& limit) {
  const StartOption* option = &Widest(asked);
  std::optional<Found> found = FindPlace(job.id, option->need);
  if (!found.has_value()) {
    VerdictOn(asked).no_start = true;
    return false;
  }
  while (snapshot_.policy != nullptr && !CountInLimits(job, *option, found->allocation, limit)) {
    option = Narrower(asked, *option);
    found = option == nullptr ? std::nullopt : FindPlace(job.id, option->need);
    if (!found.has_value()) {
      return false;
    }
  }
  Start(job, *option, found->opening, std::move(found->allocation));
  return true;
}

const StartOption* Pass::Narrower(const StartOption& asked, const StartOption& option) {
  const std::uint32_t least = asked.request.min_nodes;
  const std::uint32_t nodes = option.request.max_nodes;
  if (option.tasks == 0) {
    return nullptr;
  }
  const std::uint32_t fewer = least + (nodes - least) / 2;
  return fewer <= least ? &asked : options_.OnNodes(asked, fewer);
}

std::optional<Pass::Found> Pass::FindPlace(JobId job, const Need& need) {
  if (std::optional<Opening> promised = Promised(job, need, snapshot_.now)) {
    if (std::optional<Allocation> allocation = Place(need, *promised, nullptr)) {
      return Found{*std::move(promised), *std::move(allocation)};
    }
  }
  if (std::optional<Found> shared = FindShare(need)) {
    return shared;
  }
  Need elsewhere = need;
  std::vector<bool> barred;
  for (int i = 0; i < kTries; ++i) {
    std::optional<Opening> opening = availability_.FindNow(elsewhere);
    if (!opening.has_value()) {
      return std::nullopt;
    }
    std::uint32_t too_small = 0;
    if (std::optional<Allocation> allocation = Place(need, *opening, &too_small)) {
      return Found{*std::move(opening), *std::move(allocation)};
    }
    barred.resize(snapshot_.nodes.size());
    barred[too_small] = true;
    elsewhere.barred = &barred;
  }
  return std::nullopt;
}

std::optional<Pass::Found> Pass::FindShare(const Need& need) {
  if (need.request->gpu_share.zero()) {
    return std::nullopt;
  }
  const auto picture_of = [this](std::uint32_t node) -> const NodePicture& {
    return PictureOf(node);
  };
  const std::optional<ShareChoice::Place> place = shares_.Choose(need, picture_of);
  if (!place.has_value()) {
    return std::nullopt;
  }
  NodePicture only = PictureOf(place->node);
  only.taken.gpus.resize(std::max(only.taken.gpus.size(), only.machine->gpus.size()));
  for (std::size_t gpu = 0; gpu < only.taken.gpus.size(); ++gpu) {
    only.taken.gpus[gpu] = gpu == place->gpu ? only.taken.gpus[gpu] : kWholeGpu;
  }
  Opening opening{snapshot_.now, {NodeShare{place->node, need.request->tasks}}};
  std::optional<Allocation> allocation = PlaceRanks(
      availability_, need, opening, [&only](std::uint32_t) -> const NodePicture& { return only; });
  return allocation.has_value() ? std::optional(Found{std::move(opening), *std::move(allocation)})
                                : std::nullopt;
}

std::optional<Allocation> Pass::Place(const Need& need, const Opening& opening,
                                      std::uint32_t* too_small) const {
  std::map<std::uint32_t, NodePicture> visible;
  if (!need.request->gpu_share.zero()) {
    for (const NodeShare& share : opening.shares) {
      visible.emplace(share.node, shares_.Visible(need, share.node, PictureOf(share.node)));
    }
  }
  return PlaceRanks(
      availability_, need, opening,
      [&](std::uint32_t node) -> const NodePicture& {
        return visible.empty() ? PictureOf(node) : visible.at(node);
      },
      too_small);
}

void Pass::Start(const WaitingJob& job, const StartOption& option, const Opening& opening,
                 Allocation allocation) {
  if (!option.request.gpu_share.zero()) {
    shares_.Start(option.need, opening, allocation,
                  [this](std::uint32_t node) -> const NodePicture& { return PictureOf(node); });
  }
  for (std::size_t i = 0; i < opening.shares.size(); ++i) {
    const std::uint32_t node = opening.shares[i].node;
    NodePicture& picture = touched_.try_emplace(node, snapshot_.nodes[node]).first->second;
    AddUse(picture.taken, *picture.machine, allocation.nodes[i]);
  }
  availability_.Take(option.need, opening);
  CountStart(job, counts_);
  plan_.starts.push_back(PlannedStart{job.id, std::move(allocation), option.partition,
                                      option.alternative, option.tasks});
}

}  // namespace muster
