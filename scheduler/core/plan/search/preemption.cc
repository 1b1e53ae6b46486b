#include "scheduler/core/plan/search/preemption.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/numeric/int128.h"
#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/nodes/narrow_choice.h"
#include "scheduler/core/place/placement.h"
#include "scheduler/core/place/rank_layout.h"
#include "scheduler/core/state/tables/node_use.h"
#include "scheduler/core/state/tables/usage_keys.h"

namespace muster::core {
namespace {

// Work that ending the job now would lose: its time times its rate.
std::uint64_t CostOf(const RunningJob& job, Time now) {
  const Duration ran = now - job.started - job.suspended;
  const auto elapsed = static_cast<std::uint64_t>(std::max(ran, Duration(0)).count());
  const absl::uint128 cost =
      absl::uint128(elapsed + 1) * std::max<std::uint64_t>(job.billing.value(), 1);
  constexpr std::uint64_t kCostMax = std::numeric_limits<std::uint64_t>::max() >> 20U;
  return static_cast<std::uint64_t>(std::min<absl::uint128>(cost, kCostMax));
}

// What is taken of the node without the jobs that held these parts of it, while others are to have
// `promised`, which is in the snapshot's memory already.
NodeSnapshot Without(NodeSnapshot node_snapshot, const std::vector<const Holding*>& parts,
                     const std::vector<NodeAllocation>& promised) {
  for (const Holding* part : parts) {
    node_snapshot.taken.cpus -= part->cpus;
    node_snapshot.taken.memory -= std::min(part->memory, node_snapshot.taken.memory);
    TakeFrom(node_snapshot.taken.gres, part->gres);
    for (const GpuGrant& grant : part->gpus) {
      if (grant.gpu < node_snapshot.taken.gpus.size()) {
        GpuShare& taken = node_snapshot.taken.gpus[grant.gpu];
        taken -= std::min(grant.share, taken);
      }
    }
  }
  for (NodeAllocation part : promised) {
    part.memory = Bytes();
    part.gres.clear();
    CoverUse(node_snapshot.taken, *node_snapshot.machine, part);
  }
  return node_snapshot;
}

// Whether some QOS or partition lets jobs preempt at all.
bool MayAnybody(const SitePolicy& site) {
  return std::any_of(site.qos.begin(), site.qos.end(),
                     [](const auto& entry) { return !entry.second.preempt.empty(); }) ||
         std::any_of(site.partitions.begin(), site.partitions.end(), [](const auto& entry) {
           return entry.second.preempt_mode != PreemptMode::kOff;
         });
}

}  // namespace

Preemption::Preemption(const Snapshot& snapshot, Availability& availability,
                       const PlannedNodes& nodes)
    : snapshot_(snapshot),
      tiers_(snapshot.policy == nullptr ? nullptr : snapshot.policy->site.get()),
      availability_(availability),
      nodes_(nodes) {
  if (snapshot.policy != nullptr) {
    possible_ = MayAnybody(*snapshot.policy->site);
  }
  any_elastic_ =
      !snapshot.none_elastic &&
      std::any_of(snapshot.running.begin(), snapshot.running.end(),
                  [](const RunningJob& job) { return job.spec->elastic && !job.ending; });
  if (!possible_ && !any_elastic_) {
    return;
  }
  for (std::size_t i = 0; i < snapshot.running.size(); ++i) {
    gives_cores_.push_back(possible_ && ModeOf(snapshot.running[i]) == PreemptMode::kSuspend);
    costs_.push_back(gives_cores_[i] ? 0 : CostOf(snapshot.running[i], snapshot.now));
    positions_[snapshot.running[i].id] = i;
  }
  for (std::uint32_t i = 0; i < snapshot.nodes.size(); ++i) {
    node_positions_[snapshot.nodes[i].id] = i;
  }
  NoteWhatIsLeft();
}
// A job that would be suspended leaves its cores, and not for good.
void Preemption::NoteWhatIsLeft() {
  if (std::find(gives_cores_.begin(), gives_cores_.end(), true) == gives_cores_.end()) {
    return;
  }
  for (const NodeSnapshot& node : snapshot_.nodes) {
    for (const Holding& holding : node.holdings) {
      if (gives_cores_[positions_.at(holding.job)]) {
        Holding left{holding.job, holding.ends, holding.cpus, Bytes(), {}};
        left.given_back = holding.cpus;
        left_.emplace(&holding, std::move(left));
      }
    }
  }
}

PreemptMode Preemption::ModeOf(const RunningJob& victim) const {
  const SitePolicy& site = *snapshot_.policy->site;
  const Qos* qos = FindQos(site, EffectiveQos(victim.spec->qos));
  const Partition* partition = FindPartition(site, EffectivePartition(victim.partition));
  const PreemptMode mode = qos == nullptr ? PreemptMode::kOff : qos->preempt_mode;
  return mode == PreemptMode::kOff && partition != nullptr ? partition->preempt_mode : mode;
}

bool Preemption::MayPreempt(const WaitingJob& job, const StartOption& option,
                            const RunningJob& victim) const {
  const SitePolicy& site = *snapshot_.policy->site;
  const Qos* victims_qos = FindQos(site, EffectiveQos(victim.spec->qos));
  if (victim.ending || victim.component ||
      (victims_qos != nullptr &&
       snapshot_.now - victim.started < victims_qos->preempt_exempt_time)) {
    return false;
  }
  if (gives_cores_[positions_.at(victim.id)] && !IsRunning(victim.state)) {
    return false;
  }
  return Outranks(job, option, victim);
}

bool Preemption::Outranks(const WaitingJob& job, const StartOption& option,
                          const RunningJob& victim) const {
  if (tiers_.Of(*job.spec) <= tiers_.Of(*victim.spec)) {
    return false;
  }
  const SitePolicy& site = *snapshot_.policy->site;
  const Qos* own = FindQos(site, EffectiveQos(job.spec->qos));
  if (own != nullptr && std::find(own->preempt.begin(), own->preempt.end(),
                                  EffectiveQos(victim.spec->qos)) != own->preempt.end()) {
    return true;
  }
  const Partition* mine = FindPartition(site, option.partition);
  const Partition* its = FindPartition(site, EffectivePartition(victim.partition));
  return mine != nullptr && its != nullptr && its->preempt_mode != PreemptMode::kOff &&
         mine->priority_tier > its->priority_tier;
}

std::vector<bool> Preemption::Candidates(const WaitingJob& job, const StartOption& option) const {
  std::vector<bool> candidates(snapshot_.running.size(), false);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i] = !gone_.contains(i) && MayPreempt(job, option, snapshot_.running[i]);
  }
  return candidates;
}

std::vector<const Holding*> Preemption::PartsOf(std::uint32_t node,
                                                const std::set<std::size_t>& jobs) const {
  std::vector<const Holding*> parts;
  for (const Holding& holding : snapshot_.nodes[node].holdings) {
    if (jobs.contains(positions_.at(holding.job))) {
      const auto left = left_.find(&holding);
      parts.push_back(left == left_.end() ? &holding : &left->second);
    }
  }
  return parts;
}

std::uint32_t Preemption::RoomWithout(std::uint32_t node, const Need& need,
                                      const std::set<std::size_t>& gone) const {
  return availability_.RoomWithout(need, node, PartsOf(node, gone));
}

Preemption::Offer Preemption::OfferOf(std::uint32_t node, const StartOption& option,
                                      std::uint32_t tasks, const std::vector<bool>& candidates,
                                      const std::set<std::size_t>& gone) const {
  Offer offer;
  if (!availability_.PlainQueryOf(option.need).IsOpenAt(node, snapshot_.now)) {
    return offer;
  }
  std::set<std::size_t> trial = gone;
  offer.able = RoomWithout(node, option.need, trial) >= tasks;
  std::vector<std::pair<std::uint64_t, std::size_t>> cheapest;
  for (const Holding& holding : snapshot_.nodes[node].holdings) {
    const std::size_t position = positions_.at(holding.job);
    if (!offer.able && candidates[position] && !gone.contains(position)) {
      cheapest.emplace_back(costs_[position], position);
    }
  }
  std::sort(cheapest.begin(), cheapest.end());
  for (const auto& [cost, position] : cheapest) {
    if (offer.able) {
      break;
    }
    trial.insert(position);
    offer.victims.push_back(position);
    offer.able = RoomWithout(node, option.need, trial) >= tasks;
  }
  // Whoever was taken and is not needed stays, the dearest first.
  for (std::size_t i = offer.victims.size(); offer.able && i-- > 0;) {
    trial.erase(offer.victims[i]);
    if (RoomWithout(node, option.need, trial) >= tasks) {
      offer.victims.erase(offer.victims.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      trial.insert(offer.victims[i]);
    }
  }
  for (const std::size_t victim : offer.victims) {
    offer.cost += costs_[victim];
  }
  return offer;
}

std::optional<std::uint32_t> Preemption::CheapestOf(const std::vector<Offer>& offers) {
  std::optional<std::uint32_t> best;
  for (std::uint32_t node = 0; node < offers.size(); ++node) {
    if (offers[node].able && (!best.has_value() || offers[node].cost < offers[*best].cost)) {
      best = node;
    }
  }
  return best;
}

std::optional<Eviction> Preemption::Gather(const StartOption& option,
                                           const std::vector<bool>& candidates,
                                           std::uint32_t nodes) const {
  const NodeTree* tree = availability_.inventory().tree();
  std::vector<bool> off(snapshot_.nodes.size(), false);
  if (std::optional<Eviction> eviction = GatherOff(off, option, candidates, nodes)) {
    return eviction;
  }
  // Perhaps the cheapest nodes are on the smaller side of a narrow link.
  const std::size_t sides = tree == nullptr || nodes == 1 ? 0 : 2 * tree->links().size();
  for (std::uint32_t side = 0; side < sides; ++side) {
    off.assign(off.size(), false);
    MarkSide(side, *tree, off);
    if (std::optional<Eviction> eviction = GatherOff(off, option, candidates, nodes)) {
      return eviction;
    }
  }
  return std::nullopt;
}

std::optional<Eviction> Preemption::GatherOff(std::vector<bool> off, const StartOption& option,
                                              const std::vector<bool>& candidates,
                                              std::uint32_t nodes) const {
  const NodeTree* tree = availability_.inventory().tree();
  const std::uint32_t tasks = option.request.tasks;
  const std::uint32_t share = (tasks + nodes - 1) / nodes;
  Eviction eviction;
  eviction.opening.start = snapshot_.now;
  std::vector<Offer> offers;
  for (std::uint32_t node = 0; node < snapshot_.nodes.size(); ++node) {
    offers.push_back(off[node] ? Offer()
                               : OfferOf(node, option, share, candidates, eviction.victims));
  }
  std::uint32_t left = tasks;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const std::optional<std::uint32_t> best = CheapestOf(offers);
    if (!best.has_value()) {
      return std::nullopt;
    }
    const std::uint32_t some = std::min(share, left - (nodes - 1 - i));
    eviction.opening.shares.push_back(NodeShare{*best, some});
    left -= some;
    const std::vector<std::size_t> victims = std::exchange(offers[*best], Offer()).victims;
    eviction.victims.insert(victims.begin(), victims.end());
    if (tree != nullptr) {
      MarkAcross(*best, *tree, off);
    }
    for (std::uint32_t node = 0; node < off.size(); ++node) {
      if (off[node]) {
        offers[node] = Offer();
      }
    }
    // Their other nodes cost less now.
    for (const std::size_t victim : victims) {
      for (const NodeId id : snapshot_.running[victim].nodes) {
        const std::uint32_t node = node_positions_.at(id);
        if (offers[node].able || !offers[node].victims.empty()) {
          offers[node] = OfferOf(node, option, share, candidates, eviction.victims);
        }
      }
    }
  }
  std::sort(eviction.opening.shares.begin(), eviction.opening.shares.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  return eviction;
}

void Preemption::DropUnneeded(const Need& need, Eviction& eviction) const {
  std::vector<std::pair<std::uint64_t, std::size_t>> dearest;
  for (const std::size_t victim : eviction.victims) {
    dearest.emplace_back(costs_[victim], victim);
  }
  std::sort(dearest.rbegin(), dearest.rend());
  for (const auto& [cost, victim] : dearest) {
    std::set<std::size_t> fewer = eviction.victims;
    fewer.erase(victim);
    const bool fits = std::all_of(eviction.opening.shares.begin(), eviction.opening.shares.end(),
                                  [&](const NodeShare& share) {
                                    return RoomWithout(share.node, need, fewer) >= share.tasks;
                                  });
    if (fits) {
      eviction.victims = std::move(fewer);
    }
  }
}

bool Preemption::Place(const Need& need, Eviction& eviction) const {
  std::set<std::size_t> all_gone = gone_;
  all_gone.insert(eviction.victims.begin(), eviction.victims.end());
  for (const NodeShare& share : eviction.opening.shares) {
    const auto promised = taken_over_.find(share.node);
    Placed placed = PlaceOnNode(
        Without(nodes_.At(share.node), PartsOf(share.node, all_gone),
                promised == taken_over_.end() ? std::vector<NodeAllocation>() : promised->second),
        *need.request, share.tasks);
    if (!AddPlaced(std::move(placed), share.tasks, eviction.allocation)) {
      return false;
    }
  }
  const std::vector<NodeShare>& shares = eviction.opening.shares;
  LayOutRanks(
      *need.request,
      [&](std::size_t i) -> const Machine& { return *snapshot_.nodes[shares[i].node].machine; },
      [&](std::size_t i) { return availability_.inventory().LeafOf(shares[i].node); },
      eviction.allocation);
  return true;
}

std::optional<Eviction> Preemption::Find(const WaitingJob& job, const StartOption& option) const {
  return possible_ ? FindAmong(Candidates(job, option), option) : std::nullopt;
}

std::optional<Eviction> Preemption::FindWithout(std::size_t running,
                                                const StartOption& option) const {
  std::vector<bool> candidates(snapshot_.running.size(), false);
  candidates[running] = !gone_.contains(running);
  return FindAmong(candidates, option);
}

std::optional<Eviction> Preemption::FindAmong(const std::vector<bool>& candidates,
                                              const StartOption& option) const {
  const ResourceRequest& request = option.request;
  if (NamesNodes(request)) {
    return std::nullopt;
  }
  if (std::find(candidates.begin(), candidates.end(), true) == candidates.end()) {
    return std::nullopt;
  }
  const std::uint32_t most =
      std::max(request.min_nodes, std::min(request.max_nodes, request.tasks));
  for (std::uint32_t nodes = request.min_nodes; nodes <= most;
       nodes = std::max(nodes + 1, nodes * 2)) {
    std::optional<Eviction> eviction = Gather(option, candidates, nodes);
    if (eviction.has_value() && !eviction->victims.empty()) {
      DropUnneeded(option.need, *eviction);
      if (Place(option.need, *eviction)) {
        return eviction;
      }
    }
  }
  return std::nullopt;
}

void Preemption::Take(const StartOption& option, const Eviction& eviction) {
  std::map<std::uint32_t, std::vector<const Holding*>> holdings;
  for (std::size_t i = 0; i < eviction.opening.shares.size(); ++i) {
    const std::uint32_t node = eviction.opening.shares[i].node;
    holdings[node] = PartsOf(node, eviction.victims);
    taken_over_[node].push_back(eviction.allocation.nodes[i]);
  }
  availability_.TakeInPlaceOf(holdings, option.need, eviction.opening);
  for (const std::size_t victim : eviction.victims) {
    gone_.insert(victim);
  }
}

bool Preemption::GivesWay(JobId job) const {
  const auto position = positions_.find(job);
  return position != positions_.end() && gone_.contains(position->second);
}

PlannedPreemption Preemption::PlanOf(JobId job, const Eviction& eviction) const {
  PlannedPreemption plan;
  plan.job = job;
  plan.allocation = eviction.allocation;
  for (const std::size_t position : eviction.victims) {
    const RunningJob& victim = snapshot_.running[position];
    const PreemptMode mode = ModeOf(victim);
    const bool suspend = mode == PreemptMode::kSuspend;
    const bool may_requeue =
        victim.spec->kind == JobKind::kBatch && victim.spec->requeue != Choice::kNo;
    plan.victims.push_back(PlannedVictim{victim.id, victim.attempt,
                                         may_requeue && mode != PreemptMode::kCancel && !suspend,
                                         suspend});
  }
  return plan;
}

}  // namespace muster::core
