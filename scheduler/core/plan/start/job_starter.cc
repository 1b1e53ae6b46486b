#include "scheduler/core/plan/start/job_starter.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "scheduler/core/place/request.h"
#include "scheduler/core/plan/search/group_search.h"
#include "scheduler/core/state/tables/alternatives.h"
#include "scheduler/core/state/tables/charge.h"
#include "scheduler/core/state/tables/node_use.h"

namespace muster::core {
namespace {

// Nodes that are tried one after the other when what is free of them does not lie as it counts.
constexpr int kTries = 16;

// By how many nodes a job that may choose becomes wider.
std::uint32_t StepOf(const ResourceRequest& request) {
  return IsInSegments(request) ? request.segment : 1;
}

// What the last plan promised to the job; null: nothing.
const PlannedReservation* PromiseTo(const Snapshot& snapshot, JobId job) {
  const std::vector<PlannedReservation>& promised = snapshot.promised;
  const auto kept = std::lower_bound(
      promised.begin(), promised.end(), job,
      [](const PlannedReservation& reservation, JobId id) { return reservation.job < id; });
  return kept != promised.end() && kept->job == job ? &*kept : nullptr;
}

// The nodes that were promised to the job are its first choice; in the order called prompt, where
// they are kept for late, once it is time.
bool BeginsWithPromised(const CycleState& cycle, JobId job) {
  const PlannedReservation* const kept = PromiseTo(cycle.snapshot, job);
  return kept != nullptr &&
         (cycle.config.priority.order != QueueRule::kPrompt || kept->start <= cycle.snapshot.now);
}

// The node on which a task costs most hardware threads.
std::uint32_t DearestOf(const JobStarter::Found& found) {
  const auto& shares = found.opening.shares;
  std::size_t dearest = 0;
  const auto threads = [&found](std::size_t i) {
    return std::uint64_t{found.allocation.nodes[i].cpus.Count()};
  };
  for (std::size_t i = 1; i < shares.size(); ++i) {
    const bool dearer = threads(i) * shares[dearest].tasks > threads(dearest) * shares[i].tasks;
    dearest = dearer ? i : dearest;
  }
  return shares[dearest].node;
}

}  // namespace

JobStarter::JobStarter(CycleState& cycle, ShapeVerdicts& verdicts)
    : cycle_(cycle),
      verdicts_(verdicts),
      shares_(cycle.snapshot, cycle.availability),
      stopped_(cycle.availability) {}

bool JobStarter::TryStart(const WaitingJob& job, const StartOption& asked,
                          std::optional<Reason>& limit) {
  const bool is_like_others = PromiseTo(cycle_.snapshot, job.id) == nullptr;
  if (const Reason* known = is_like_others ? stopped_.Find(asked, *job.spec) : nullptr) {
    if (!limit.has_value()) {
      limit = *known;
    }
    return false;
  }
  std::optional<Reason> broken;
  const StartOption* option = &Widest(asked);
  std::optional<Found> found = FindPlace(job.id, option->need);
  while (!found.has_value() ||
         (cycle_.snapshot.policy != nullptr &&
          !CountInLimits(job, *option, found->allocation, cycle_.usage, broken))) {
    const StartOption* narrower = Narrower(asked, *option);
    if (narrower == nullptr) {
      if (found.has_value()) {
        found = FindWithinLimits(job, *option, *std::move(found), broken);
        if (!found.has_value() && is_like_others) {
          stopped_.Add(asked, *job.spec, *broken);
        }
      } else {
        verdicts_.RuleOut(asked);
      }
      break;
    }
    option = narrower;
    found = FindPlace(job.id, option->need);
  }
  if (!limit.has_value()) {
    limit = std::move(broken);
  }
  if (!found.has_value()) {
    return false;
  }
  Start(job, *option, found->opening, std::move(found->allocation));
  return true;
}

const StartOption& JobStarter::Widest(const StartOption& asked) {
  const ResourceRequest& request = asked.request;
  if (!request.as_wide_as_fits || asked.tasks > 0 || asked.anywhere != nullptr) {
    return asked;
  }
  const std::uint32_t step = StepOf(request);
  std::uint32_t most =
      cycle_.availability.CountNow(asked.need, TasksOnEach(request), request.max_nodes);
  most -= most % step;
  if (most <= request.min_nodes) {
    return asked;
  }
  // Each of them has room; where links or segments keep them apart, fewer lie as the job asks.
  const StartOption* widest = cycle_.options.OnNodes(asked, most);
  if (cycle_.availability.FindNow(widest->need).has_value()) {
    return *widest;
  }
  widest = &asked;
  for (std::uint32_t least = request.min_nodes; (most - least) / step >= 2;) {
    const std::uint32_t nodes = least + (most - least) / step / 2 * step;
    const StartOption* option = cycle_.options.OnNodes(asked, nodes);
    const bool fits = cycle_.availability.FindNow(option->need).has_value();
    (fits ? least : most) = nodes;
    widest = fits ? option : widest;
  }
  return *widest;
}

const StartOption* JobStarter::Narrower(const StartOption& asked, const StartOption& option) {
  const std::uint32_t least = asked.request.min_nodes;
  const std::uint32_t nodes = option.request.max_nodes;
  if (option.tasks == 0) {
    return nullptr;
  }
  const std::uint32_t step = StepOf(asked.request);
  const std::uint32_t fewer = least + (nodes - least) / step / 2 * step;
  return fewer <= least ? &asked : cycle_.options.OnNodes(asked, fewer);
}

std::optional<JobStarter::Found> JobStarter::FindPlace(JobId job, const Need& need) {
  ++searches_;
  const Snapshot& snapshot = cycle_.snapshot;
  std::optional<Opening> promised =
      BeginsWithPromised(cycle_, job)
          ? FindPromised(snapshot, cycle_.availability, job, need, snapshot.now)
          : std::nullopt;
  if (promised.has_value()) {
    if (std::optional<Allocation> allocation = Place(need, *promised, nullptr)) {
      return Found{*std::move(promised), *std::move(allocation)};
    }
  }
  if (std::optional<Found> shared = FindShare(need)) {
    return shared;
  }
  Need elsewhere = need;
  std::vector<bool> barred = need.barred == nullptr ? std::vector<bool>() : *need.barred;
  for (int i = 0; i < kTries; ++i) {
    std::optional<Opening> opening = cycle_.availability.FindNow(elsewhere);
    if (!opening.has_value()) {
      return std::nullopt;
    }
    std::uint32_t too_small = 0;
    if (std::optional<Allocation> allocation = Place(need, *opening, &too_small)) {
      return Found{*std::move(opening), *std::move(allocation)};
    }
    barred.resize(snapshot.nodes.size());
    barred[too_small] = true;
    elsewhere.barred = &barred;
  }
  return std::nullopt;
}

std::optional<JobStarter::Found> JobStarter::FindWithinLimits(const WaitingJob& job,
                                                              const StartOption& option,
                                                              Found broken,
                                                              std::optional<Reason>& limit) {
  const NodeInventory& inventory = cycle_.availability.inventory();
  std::vector<bool> barred(inventory.size(), false);
  Need elsewhere = option.need;
  elsewhere.barred = &barred;
  for (std::size_t kinds = 1; kinds < inventory.classes().size(); ++kinds) {
    const std::uint32_t dearest = inventory.class_of(DearestOf(broken));
    for (std::uint32_t node = 0; node < inventory.size(); ++node) {
      barred[node] = barred[node] || inventory.class_of(node) == dearest;
    }
    std::optional<Found> found = FindPlace(job.id, elsewhere);
    if (!found.has_value() || CountInLimits(job, option, found->allocation, cycle_.usage, limit)) {
      return found;
    }
    broken = *std::move(found);
  }
  return std::nullopt;
}

std::optional<JobStarter::Found> JobStarter::FindShare(const Need& need) {
  if (need.request->gpu_share.zero()) {
    return std::nullopt;
  }
  const std::optional<ShareChoice::Place> place = shares_.Choose(
      need, [this](std::uint32_t node) -> const NodeSnapshot& { return cycle_.nodes.At(node); });
  if (!place.has_value()) {
    return std::nullopt;
  }
  NodeSnapshot only = cycle_.nodes.At(place->node);
  only.taken.gpus.resize(std::max(only.taken.gpus.size(), only.machine->gpus.size()));
  for (std::size_t gpu = 0; gpu < only.taken.gpus.size(); ++gpu) {
    only.taken.gpus[gpu] = gpu == place->gpu ? only.taken.gpus[gpu] : kWholeGpu;
  }
  Opening opening{cycle_.snapshot.now, {NodeShare{place->node, need.request->tasks}}};
  std::optional<Allocation> allocation =
      PlaceRanks(cycle_.availability, need, opening,
                 [&only](std::uint32_t) -> const NodeSnapshot& { return only; });
  return allocation.has_value() ? std::optional(Found{std::move(opening), *std::move(allocation)})
                                : std::nullopt;
}

std::optional<Allocation> JobStarter::Place(const Need& need, const Opening& opening,
                                            std::uint32_t* too_small) const {
  std::map<std::uint32_t, NodeSnapshot> visible;
  if (!need.request->gpu_share.zero()) {
    for (const NodeShare& share : opening.shares) {
      visible.emplace(share.node, shares_.Visible(need, share.node, cycle_.nodes.At(share.node)));
    }
  }
  return PlaceRanks(
      cycle_.availability, need, opening,
      [&](std::uint32_t node) -> const NodeSnapshot& {
        return visible.empty() ? cycle_.nodes.At(node) : visible.at(node);
      },
      too_small);
}

std::optional<Reason> JobStarter::BrokenLimit(const StartOption& option, const JobSpec& spec,
                                              const Allocation& allocation,
                                              const CycleUsage& usage) const {
  std::vector<Reason> broken =
      CheckLimits(usage, AskOf(spec, option.partition, allocation,
                               [this](NodeId id) -> const Machine& { return MachineOf(id); }));
  return broken.empty() ? std::nullopt : std::optional(std::move(broken.front()));
}

bool JobStarter::LimitStops(JobId job, const JobSpec& spec, const StartOption& option,
                            const Need& need) {
  if (cycle_.snapshot.policy == nullptr) {
    return false;
  }
  const std::optional<Found> found = FindPlace(job, need);
  return found.has_value() && BrokenLimit(option, AsChosen(spec, option.alternative, option.tasks),
                                          found->allocation, cycle_.usage)
                                  .has_value();
}

bool JobStarter::CountInLimits(const WaitingJob& job, const StartOption& option,
                               const Allocation& allocation, CycleUsage& usage,
                               std::optional<Reason>& limit) const {
  const JobSpec spec = AsChosen(*job.spec, option.alternative, option.tasks);
  if (std::optional<Reason> broken = BrokenLimit(option, spec, allocation, usage)) {
    if (!limit.has_value()) {
      limit = std::move(broken);
    }
    return false;
  }
  usage.Start(spec, ChargeOf(job.id, spec, option.partition, cycle_.snapshot.now, allocation,
                             [this](NodeId id) -> const Machine& { return MachineOf(id); }));
  return true;
}

const Machine& JobStarter::MachineOf(NodeId node) const {
  return *cycle_.snapshot.nodes[*PositionOf(cycle_.snapshot, node)].machine;
}

void JobStarter::Start(const WaitingJob& job, const StartOption& option, const Opening& opening,
                       Allocation allocation) {
  if (!option.request.gpu_share.zero()) {
    shares_.Start(
        option.need, opening, allocation,
        [this](std::uint32_t node) -> const NodeSnapshot& { return cycle_.nodes.At(node); });
  }
  for (std::size_t i = 0; i < opening.shares.size(); ++i) {
    NodeSnapshot& node_snapshot = cycle_.nodes.Change(opening.shares[i].node);
    AddUse(node_snapshot.taken, *node_snapshot.machine, allocation.nodes[i]);
  }
  cycle_.availability.Take(option.need, opening);
  CountStart(job, cycle_.counts);
  // A partition may give more nodes, and so tasks, than the job asks for at the least.
  const std::uint32_t asked = AsChosen(*job.spec, option.alternative, option.tasks).request.tasks;
  cycle_.plan.Start(
      PlannedStart{job.id, std::move(allocation), option.partition, option.alternative,
                   option.request.tasks == asked ? option.tasks : option.request.tasks});
}

}  // namespace muster::core
