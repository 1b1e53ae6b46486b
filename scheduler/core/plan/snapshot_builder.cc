#include "scheduler/core/plan/snapshot_builder.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "scheduler/core/mig/divided_node.h"
#include "scheduler/core/place/nodes/node_timeline.h"
#include "scheduler/core/place/nodes/task_capacity.h"
#include "scheduler/core/plan/waiting_list.h"
#include "scheduler/core/power/power_policy.h"
#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/core/state/tables/checkpoint_account.h"
#include "scheduler/model/machine/amounts.h"

namespace muster::core {
namespace {

// True when it is to run on without being asked for again.
bool ComesBack(const Attempt& attempt) {
  return attempt.suspended_by == SuspendedBy::kPreemption ||
         attempt.suspended_by == SuspendedBy::kReleased;
}

void AddHoldings(const Job& job, NodeId node, Time now, std::vector<Holding>& holdings) {
  const Attempt& attempt = *job.attempt;
  const NodeAllocation& part = attempt.allocation.nodes[*RunOn(attempt, node)];
  const Time any_moment = attempt.started;
  Holding holding;
  holding.job = job.id;
  if (const Duration limit = PlannedDuration(job.spec->time_limit); limit.count() > 0) {
    holding.ends = CountedFrom(attempt, now) + limit;
  }
  if (attempt.ending != EndCause::kNone) {
    holding.ends = any_moment;
  } else if (attempt.suspended_by == SuspendedBy::kOperator) {
    holding.ends = kNoTime;  // nobody knows: as one without a limit
  }
  holding.memory = part.memory;
  holding.gpus = part.gpus;
  holding.gres = part.gres;
  const bool freezing = attempt.suspended_by == SuspendedBy::kOperator ||
                        attempt.suspended_by == SuspendedBy::kPreemption;
  if (!HoldsCores(attempt)) {
    holding.given_back = part.cpus;
  } else if (freezing && attempt.ending == EndCause::kNone) {
    holdings.push_back(Holding{job.id, any_moment, part.cpus, Bytes(), {}});
    holding.ends = kNoTime;  // nobody knows when it has its cores again
  } else {
    holding.cpus = part.cpus;
  }
  holdings.push_back(std::move(holding));
}

// What is left of the suspended job's time limit; nothing without one.
std::optional<Duration> LeftOf(const Holding& holding, Time now) {
  return holding.ends == kNoTime ? std::nullopt : std::optional(holding.ends - now);
}

// When the suspended job can have its cores on the node again: once all that run on them have
// ended, and all other suspended ones that want some of them have had their time, too.
Time BackOn(const NodeSnapshot& node, const Holding& own, const std::set<JobId>& coming, Time now) {
  Time back = now;
  for (const Holding& other : node.holdings) {
    if (other.cpus.Meets(own.given_back)) {
      back = std::max(back, EndOf(other, now));
    }
  }
  for (const Holding& other : node.holdings) {
    if (other.job != own.job && coming.contains(other.job) &&
        other.given_back.Meets(own.given_back)) {
      const std::optional<Duration> left = LeftOf(other, now);
      back = !left.has_value() || back >= kHorizon ? kHorizon : back + std::max(*left, Duration(0));
    }
  }
  return back;
}

// The suspended jobs that gave their cores back and want them again.
std::set<JobId> ComingBack(const ClusterState& state) {
  std::set<JobId> coming;
  for (const JobId id : state.index().suspended()) {
    const Attempt& attempt = *state.FindJob(id)->attempt;
    if (!HoldsCores(attempt) && ComesBack(attempt)) {
      coming.insert(id);
    }
  }
  return coming;
}

// When each of them has its cores again on all its nodes.
std::map<JobId, Time> BackOf(const std::set<JobId>& coming, Time now,
                             const std::vector<NodeSnapshot>& node_snapshots) {
  std::map<JobId, Time> back;
  for (const NodeSnapshot& node : node_snapshots) {
    for (const Holding& holding : node.holdings) {
      if (coming.contains(holding.job)) {
        Time& latest = back.emplace(holding.job, now).first->second;
        latest = std::max(latest, BackOn(node, holding, coming, now));
      }
    }
  }
  return back;
}

// A suspended job that comes back ends its time limit's remainder after the moment at which it has
// all its cores again. REQUIRES: `ends` of those that come back are as if they ran now.
void FindReturns(const ClusterState& state, Time now, std::vector<NodeSnapshot>& node_snapshots) {
  const std::set<JobId> coming = ComingBack(state);
  if (coming.empty()) {
    return;
  }
  const std::map<JobId, Time> back = BackOf(coming, now, node_snapshots);
  for (NodeSnapshot& node : node_snapshots) {
    for (Holding& holding : node.holdings) {
      const auto found = back.find(holding.job);
      if (found != back.end()) {
        const std::optional<Duration> left = LeftOf(holding, now);
        const bool known = found->second < kHorizon;
        holding.back = known ? found->second : kNoTime;
        holding.ends = known && left.has_value() ? found->second + *left : kNoTime;
      }
    }
  }
}

RunningJob RunningOf(const Job& job, Time now) {
  const Attempt& attempt = *job.attempt;
  RunningJob running{job.id,
                     job.spec,
                     attempt.number,
                     attempt.started,
                     attempt.billing,
                     attempt.partition,
                     attempt.ending != EndCause::kNone,
                     0,
                     Bytes(),
                     0,
                     {},
                     job.state,
                     attempt.suspended_by,
                     SuspendedFor(attempt, now),
                     IsComponent(job)};
  running.estimate = job.estimate.used;
  if (job.spec->elastic) {
    running.resized = job.resized;
    running.change_cost = ChangeCostOf(attempt);
    running.resizing = attempt.ending == EndCause::kResized;
  }
  SetAmounts(AmountsOf(attempt.allocation), running);
  for (const NodeAllocation& part : attempt.allocation.nodes) {
    running.nodes.push_back(part.node);
  }
  return running;
}

// The node is not on: jobs can have it from then on, and nothing of it before.
void MakeAway(Time ready, NodeSnapshot& node_snapshot) {
  const Machine& machine = *node_snapshot.machine;
  node_snapshot.up = true;
  node_snapshot.ready = ready;
  node_snapshot.taken.cpus = AllCpus(machine);
  node_snapshot.taken.memory = machine.memory;
  node_snapshot.taken.gpus.assign(machine.gpus.size(), kWholeGpu);
  node_snapshot.taken.gres = machine.gres;
  node_snapshot.gpu_occupants.clear();  // they are gone, too
}

// GPUs that are divided, or are to be, are for no job until that is done.
void TakeDivided(NodeSnapshot& node_snapshot) {
  if (node_snapshot.gpu_layouts.empty()) {
    return;
  }
  const Machine& machine = *node_snapshot.machine;
  node_snapshot.taken.gpus.resize(machine.gpus.size());
  for (std::uint32_t gpu = 0; gpu < machine.gpus.size(); ++gpu) {
    if (IsUnderWay(node_snapshot.gpu_layouts, machine, gpu)) {
      node_snapshot.taken.gpus[gpu] = kWholeGpu;
    }
  }
}

// One node, and the jobs that run from it on: it is the first of theirs. False when it goes with
// time, because a job on it does not hold its cores.
bool AddNodeSnapshot(const ClusterState& state, const Node& node, Time now,
                     NodeSnapshot& node_snapshot, std::vector<RunningJob>& running) {
  // Member by member: what was there before keeps its memory.
  node_snapshot.id = node.id;
  node_snapshot.name = node.name;
  node_snapshot.machine = node.machine;
  node_snapshot.up = node.connected;
  node_snapshot.drained = node.drained;
  node_snapshot.taken = node.taken;
  node_snapshot.holdings.clear();
  node_snapshot.features = node.features;
  node_snapshot.weight = node.weight;
  node_snapshot.ready = kNoTime;
  node_snapshot.narrow = node.narrow;
  node_snapshot.kept = node.kept;
  node_snapshot.gpu_occupants = node.gpu_occupants;
  node_snapshot.gpu_layouts = node.gpu_layouts;
  TakeDivided(node_snapshot);
  if (state.power().away().contains(node.id)) {
    MakeAway(AvailableFrom(state.power().Of(node.id), now), node_snapshot);
  }
  bool lasts = true;
  for (const JobId job : state.JobsOn(node.id)) {
    const Job& holder = *state.FindJob(job);
    lasts = lasts && HoldsCores(*holder.attempt);
    AddHoldings(holder, node.id, now, node_snapshot.holdings);
    if (holder.attempt->allocation.nodes.front().node == node.id) {
      running.push_back(RunningOf(holder, now));
    }
  }
  return lasts;
}

bool IsEarlier(const RunningJob& a, const RunningJob& b) {
  return a.id < b.id;
}

// Whether nothing of them goes with time; so does the next.
bool AddAllNodes(const ClusterState& state, Snapshot& snapshot) {
  bool lasts = true;
  snapshot.nodes.resize(state.nodes().size());
  snapshot.running.clear();
  std::size_t i = 0;
  for (const auto& [id, node] : state.nodes()) {
    lasts =
        AddNodeSnapshot(state, node, snapshot.now, snapshot.nodes[i++], snapshot.running) && lasts;
  }
  std::sort(snapshot.running.begin(), snapshot.running.end(), IsEarlier);
  FindReturns(state, snapshot.now, snapshot.nodes);
  return lasts;
}

// The positions of the nodes that were touched since, ascending; nothing when any may have been.
std::optional<std::vector<std::uint32_t>> TouchedSince(const ClusterState& state, Version since,
                                                       const std::vector<NodeSnapshot>& nodes) {
  std::vector<NodeId> ids;
  if (!state.touched().AppendSince(since, ids)) {
    return std::nullopt;
  }
  // When those can be had goes with time.
  ids.insert(ids.end(), state.power().away().begin(), state.power().away().end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<std::uint32_t> positions;
  for (const NodeId id : ids) {
    const auto at =
        std::lower_bound(nodes.begin(), nodes.end(), id,
                         [](const NodeSnapshot& node, NodeId other) { return node.id < other; });
    if (at == nodes.end() || at->id != id) {
      return std::nullopt;
    }
    positions.push_back(static_cast<std::uint32_t>(at - nodes.begin()));
  }
  return positions;
}

std::vector<RunningJob>::iterator Place(std::vector<RunningJob>& running, JobId id) {
  return std::lower_bound(running.begin(), running.end(), id,
                          [](const RunningJob& job, JobId other) { return job.id < other; });
}

// Of the jobs that begin on the touched nodes: those that `held` something there before are what
// `now` says, or gone. Those that run on are changed where they stand, for the others are many.
void UpdateRunning(const std::set<NodeId>& touched, const std::set<JobId>& held,
                   std::vector<RunningJob> now, std::vector<RunningJob>& running) {
  std::set<JobId> runs_on;
  std::vector<RunningJob> more;
  for (RunningJob& job : now) {
    const auto place = Place(running, job.id);
    runs_on.insert(job.id);
    if (place != running.end() && place->id == job.id) {
      *place = std::move(job);
    } else {
      more.push_back(std::move(job));
    }
  }
  std::set<JobId> gone;
  for (const JobId id : held) {
    const auto place = Place(running, id);
    if (place != running.end() && place->id == id && !runs_on.contains(id) &&
        touched.contains(place->nodes.front())) {
      gone.insert(id);
    }
  }
  if (!gone.empty()) {
    running.erase(std::remove_if(Place(running, *gone.begin()), running.end(),
                                 [&gone](const RunningJob& job) { return gone.contains(job.id); }),
                  running.end());
  }
  std::sort(more.begin(), more.end(), IsEarlier);
  const auto middle = static_cast<std::ptrdiff_t>(running.size());
  const bool behind = more.empty() || running.empty() || running.back().id < more.front().id;
  std::move(more.begin(), more.end(), std::back_inserter(running));
  if (!behind) {
    std::inplace_merge(running.begin(), running.begin() + middle, running.end(), IsEarlier);
  }
}

// Brings the nodes of a snapshot of `since`, which lasts, up to date. False when it cannot, or when
// the snapshot does not last any more: then they are to be built whole.
bool UpdateNodes(const ClusterState& state, Version since, Snapshot& snapshot) {
  if (snapshot.nodes.size() != state.nodes().size()) {
    return false;
  }
  const auto positions = TouchedSince(state, since, snapshot.nodes);
  if (!positions.has_value()) {
    return false;
  }
  bool lasts = true;
  std::set<NodeId> touched;
  std::set<JobId> held;
  std::vector<RunningJob> running;
  for (const std::uint32_t position : *positions) {
    NodeSnapshot& node_snapshot = snapshot.nodes[position];
    touched.insert(node_snapshot.id);
    for (const Holding& holding : node_snapshot.holdings) {
      held.insert(holding.job);
    }
    const Node& node = *state.FindNode(node_snapshot.id);
    lasts = AddNodeSnapshot(state, node, snapshot.now, node_snapshot, running) && lasts;
  }
  if (touched.empty() || !lasts) {
    return lasts;
  }
  UpdateRunning(touched, held, std::move(running), snapshot.running);
  return true;
}

// Everything but the nodes, what runs and what waits.
void AddTheRest(const ClusterState& state, const Plan* last, Snapshot& snapshot) {
  snapshot.usage = state.usage().TakeSnapshot();
  snapshot.arrays.clear();
  for (const auto& [submission, running] : state.index().array_running()) {
    snapshot.arrays.push_back(ArrayRunning{submission, running});
  }
  snapshot.promised.clear();
  snapshot.growing.clear();
  if (last != nullptr) {
    snapshot.promised = last->reservations;
    std::sort(snapshot.promised.begin(), snapshot.promised.end(),
              [](const auto& a, const auto& b) { return a.job < b.job; });
    snapshot.growing = last->resizes;
  }
  snapshot.narrow_links = state.narrow_links().all();
  snapshot.by_user = state.index().by_user();
  snapshot.none_elastic = state.index().elastic().empty();
  snapshot.none_suspended = state.index().suspended().empty();
  snapshot.licenses = state.licenses().Uses();
  snapshot.policy = state.policy().active()
                        ? std::make_shared<const PolicySnapshot>(state.policy().snapshot())
                        : nullptr;
}

}  // namespace

std::shared_ptr<const Snapshot> BuildSnapshot(const ClusterState& state, Time now, const Plan* last,
                                              std::shared_ptr<const Network> network) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->network = std::move(network);
  snapshot->version = state.version();
  snapshot->now = now;
  AddAllNodes(state, *snapshot);
  snapshot->waiting = WaitingOf(state, now);
  AddTheRest(state, last, *snapshot);
  return snapshot;
}

std::shared_ptr<const Snapshot> SnapshotBuilder::Build(const ClusterState& state, Time now,
                                                       const Plan* last,
                                                       std::shared_ptr<const Network> network) {
  constexpr std::size_t kKeptMost = 2;
  Kept kept;
  if (kept_.size() == kKeptMost) {
    kept = std::move(kept_.front());
    kept_.erase(kept_.begin());
  }
  const bool known = kept.snapshot != nullptr && kept.snapshot.use_count() == 1 &&
                     kept.snapshot->version <= state.version();
  const bool usable = known && kept.lasts;
  if (!known) {
    kept.snapshot = std::make_shared<Snapshot>();
  }
  Snapshot& snapshot = *kept.snapshot;
  const Version since = std::exchange(snapshot.version, state.version());
  snapshot.network = std::move(network);
  snapshot.now = now;
  kept.lasts = usable && UpdateNodes(state, since, snapshot);
  if (!kept.lasts) {
    kept.lasts = AddAllNodes(state, snapshot);
  }
  if (!known || !UpdateWaiting(state, touched_, since, now, snapshot.waiting)) {
    snapshot.waiting = WaitingOf(state, now);
  }
  AddTheRest(state, last, snapshot);
  snapshot.delta.reset();
  if (!kept_.empty() && kept.lasts && kept_.back().lasts) {
    const Snapshot& before = *kept_.back().snapshot;
    std::optional<std::vector<std::uint32_t>> nodes;
    if (before.nodes.size() == snapshot.nodes.size()) {
      nodes = TouchedSince(state, before.version, snapshot.nodes);
    }
    if (nodes.has_value()) {
      snapshot.delta = SnapshotDelta{&before, before.version, *std::move(nodes)};
    }
  }
  kept_.push_back(kept);
  return kept.snapshot;
}

}  // namespace muster::core
