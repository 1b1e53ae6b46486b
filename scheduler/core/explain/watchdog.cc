#include "scheduler/core/explain/watchdog.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/nodes/node_selection.h"
#include "scheduler/core/place/nodes/task_capacity.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/plan/queue/waiting_jobs.h"
#include "scheduler/core/plan/search/eligibility.h"
#include "scheduler/core/policy/job_partition.h"
#include "scheduler/core/policy/policy_filter.h"
#include "scheduler/core/state/tables/alternatives.h"
#include "scheduler/core/state/tables/charge.h"
#include "scheduler/core/state/tables/node_use.h"
#include "scheduler/model/value/fingerprint.h"

namespace muster::core {
namespace {

// Looks at a node for a shape of job, over all shapes.
constexpr std::size_t kLooksMax = 1U << 22;

class Round {
 public:
  Round(const Snapshot& snapshot, const Plan& plan, const SchedulerConfig& config)
      : snapshot_(snapshot),
        plan_(plan),
        config_(config),
        counts_(snapshot, config),
        usage_(snapshot.policy == nullptr ? kNoPolicy : *snapshot.policy),
        nodes_(snapshot.nodes) {
    for (const WaitingJob& job : snapshot.waiting) {
      waiting_[job.id] = &job;
    }
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      positions_[nodes_[i].id] = i;
    }
    users_.resize(nodes_.size());
    for (const RunningJob& job : snapshot.running) {
      for (const NodeId node : job.nodes) {
        NoteUser(node, *job.spec);
      }
    }
    for (const PlannedStart& start : plan.starts) {
      Count(start);
    }
    for (const PlannedPreemption& preemption : plan.preemptions) {
      for (const NodeAllocation& part : preemption.allocation.nodes) {
        NodeSnapshot& node = nodes_[positions_.at(part.node)];
        CoverUse(node.taken, *node.machine, part);
      }
    }
    LookAtNodes();
  }

  std::vector<OverlookedJob> Run() {
    std::vector<OverlookedJob> overlooked;
    for (const LeftWaiting& left : plan_.waiting) {
      if (looks_ > kLooksMax || (config_.backfill == Backfill::kNone && !overlooked.empty())) {
        break;
      }
      if (std::optional<OverlookedJob> job = LookAt(left)) {
        overlooked.push_back(*std::move(job));
      }
      if (config_.backfill == Backfill::kNone &&
          (left.reason.kind == ReasonKind::kResources || left.reason.kind == ReasonKind::kHetJob)) {
        break;  // those behind it wait for it
      }
    }
    return overlooked;
  }

 private:
  inline static const PolicySnapshot kNoPolicy;

  [[nodiscard]] bool HasRules() const { return core::HasRules(snapshot_); }

  // The job, where the plan leaves it though it fits.
  std::optional<OverlookedJob> LookAt(const LeftWaiting& left) {
    const std::optional<WaitingJob> found = Find(left.job);
    if (!found.has_value() || found->het_size > 0) {
      return std::nullopt;  // suspended, or it starts with others or not at all
    }
    const bool unknown_ahead =
        std::exchange(unknown_ahead_, unknown_ahead_ || HasNoKnownStart(left));
    // Else it would take what others were promised, on nodes no plan names: it is told so, or why
    // it does not start in another of its ways, or on other nodes.
    if (config_.priority.order == QueueRule::kPrompt &&
        left.reason.kind != ReasonKind::kResources) {
      return std::nullopt;
    }
    if (config_.backfill == Backfill::kNone && held_up_ahead_) {
      return std::nullopt;  // that one waits for room, too, where it has a choice
    }
    held_up_ahead_ = held_up_ahead_ || left.reason.kind == ReasonKind::kReservation ||
                     left.reason.kind == ReasonKind::kSwitches;
    const WaitingJob& job = *found;
    const bool endless = PlannedDuration(job.spec->time_limit).count() <= 0;
    if (endless && unknown_ahead) {
      return std::nullopt;  // nodes are kept for those without a known start, which no plan names
    }
    std::optional<std::vector<NodeId>> nodes = NodesFor(job);
    return nodes.has_value()
               ? std::optional(OverlookedJob{job.id, *std::move(nodes), snapshot_.now})
               : std::nullopt;
  }

  // The job of that id, also where it is an element of an entry.
  [[nodiscard]] std::optional<WaitingJob> Find(JobId id) const {
    const auto after = waiting_.upper_bound(id);
    if (after == waiting_.begin()) {
      return std::nullopt;
    }
    const WaitingJob& entry = *std::prev(after)->second;
    const std::uint64_t offset = id.value() - entry.id.value();
    return offset < entry.count
               ? std::optional(ElementsOf(entry, static_cast<std::uint32_t>(offset)))
               : std::nullopt;
  }

  // It, or an element after it, waits for room, and the plan has no time at which it starts: nodes
  // are kept for it from when all else on them is over.
  [[nodiscard]] bool HasNoKnownStart(const LeftWaiting& left) const {
    switch (left.reason.kind) {
      case ReasonKind::kResources:
      case ReasonKind::kPriority:
        return left.reason.until == kNoTime || (left.count > 1 && !IsReservedWhole(left));
      case ReasonKind::kReservation:
      case ReasonKind::kSwitches:  // `until` is when these end
        return !IsReservedWhole(left);
      default:
        return false;
    }
  }

  // Each of its elements has a planned start.
  [[nodiscard]] bool IsReservedWhole(const LeftWaiting& left) const {
    const auto first = reserved_.lower_bound(left.job);
    const auto after = reserved_.lower_bound(JobId(left.job.value() + left.count));
    return std::distance(first, after) == std::ptrdiff_t{left.count};
  }

  void Count(const PlannedStart& start) {
    const WaitingJob job = *Find(start.job);
    for (const NodeAllocation& part : start.allocation.nodes) {
      NodeSnapshot& node = nodes_[positions_.at(part.node)];
      AddUse(node.taken, *node.machine, part);
      NoteUser(part.node, *job.spec);
    }
    CountStart(job, counts_);
    if (snapshot_.policy != nullptr) {
      const JobSpec spec = AsChosen(*job.spec, start.alternative, start.tasks);
      usage_.Start(spec, ChargeOf(job.id, spec, start.partition, snapshot_.now, start.allocation,
                                  [this](NodeId id) -> const Machine& { return MachineOf(id); }));
    }
  }

  void NoteUser(NodeId node, const JobSpec& spec) {
    if (snapshot_.by_user) {
      users_[positions_.at(node)].Add(spec.user.uid, spec.request.exclusive_user);
    }
  }

  const Machine& MachineOf(NodeId id) const { return *nodes_[positions_.at(id)].machine; }

  // What is free of each node, and from when on somebody is to have it.
  void LookAtNodes() {
    std::map<const Machine*, NodeCapacity> known;
    for (const NodeSnapshot& node : nodes_) {
      const auto [of_machine, is_new] = known.try_emplace(node.machine.get());
      if (is_new) {
        of_machine->second = CapacityOf(*node.machine);
      }
      const NodeCapacity& capacity = node.gpu_occupants.empty()
                                         ? of_machine->second
                                         : CapacityOf(*node.machine, node.gpu_occupants);
      const auto found = std::find(capacities_.begin(), capacities_.end(), capacity);
      capacity_of_.push_back(static_cast<std::uint32_t>(found - capacities_.begin()));
      if (found == capacities_.end()) {
        capacities_.push_back(capacity);
      }
      free_.push_back(FreeNow(node, capacity));
      idle_.push_back(node.up && !node.drained && capacity.uniform && free_.back().cores > 0);
    }
    promised_from_.assign(nodes_.size(), kFarFuture);
    for (const PlannedReservation& reservation : plan_.reservations) {
      reserved_.insert(reservation.job);
      for (const ReservedNode& node : reservation.nodes) {
        Time& from = promised_from_[positions_.at(node.node)];
        from = std::min(from, reservation.start);
      }
    }
    for (const RunningJob& job : snapshot_.running) {
      if (IsSuspended(job.state) && job.suspended_by != SuspendedBy::kOperator) {
        for (const NodeId node : job.nodes) {
          promised_from_[positions_.at(node)] = snapshot_.now;  // it wants its cores back
        }
      }
    }
  }

  // Nodes that would take the job now; nothing when it waits for a reason.
  std::optional<std::vector<NodeId>> NodesFor(const WaitingJob& job) {
    std::vector<Reason> blockers;
    AddJobBlockers(snapshot_, job, counts_, blockers);
    if (blockers.empty()) {
      AddPolicyBlockers(snapshot_, job, usage_, blockers);
    }
    if (!blockers.empty()) {
      return std::nullopt;
    }
    for (std::uint32_t i = 0; i < AlternativesOf(*job.spec); ++i) {
      JobSpec spec = AsChosen(*job.spec, i, 0);
      if (spec.request.as_wide_as_fits && spec.request.tasks == 0) {
        spec = AsChosen(*job.spec, i, spec.request.min_nodes * TasksOnEach(spec.request));
      }
      const std::vector<JobPartition> partitions =
          HasRules() ? PartitionsOf(*snapshot_.policy, spec) : std::vector{JobPartition()};
      for (const JobPartition& partition : partitions) {
        if (auto nodes = NodesIn(job, spec, partition)) {
          return nodes;
        }
      }
    }
    return std::nullopt;
  }

  std::optional<std::vector<NodeId>> NodesIn(const WaitingJob& job, const JobSpec& spec,
                                             const JobPartition& partition) {
    if (HasRules() && PartitionBlocker(*snapshot_.policy, spec, partition).has_value()) {
      return std::nullopt;
    }
    ResourceRequest request =
        HasRules() ? RequestIn(*snapshot_.policy, spec, partition) : spec.request;
    if (SwitchesUntil(job, request) <= snapshot_.now) {
      request.switches = 0;
    }
    const std::uint64_t shape = Fingerprint()
                                    .Add(request)
                                    .Add(spec.user.uid)
                                    .Add(spec.time_limit)
                                    .Add(partition.name)
                                    .Add(spec.reservation)
                                    .value();
    if (fits_nowhere_.contains(shape)) {
      return std::nullopt;
    }
    const std::vector<NodeSnapshot> idle = IdleFor(spec, request, partition);
    const std::optional<Allocation> place =
        idle.empty() ? std::nullopt
                     : PlaceJob(idle, request, ClusterView::kAsIs,
                                request.switches > 0 || IsInSegments(request) ||
                                        !snapshot_.narrow_links.empty()
                                    ? snapshot_.network.get()
                                    : nullptr,
                                snapshot_.narrow_links);
    if (!place.has_value()) {
      fits_nowhere_.insert(shape);
      return std::nullopt;
    }
    const auto machine_of = [this](NodeId id) -> const Machine& { return MachineOf(id); };
    if (snapshot_.policy != nullptr &&
        !CheckLimits(usage_, AskOf(spec, partition.name, *place, machine_of)).empty()) {
      return std::nullopt;
    }
    std::vector<NodeId> nodes;
    for (const NodeAllocation& part : place->nodes) {
      nodes.push_back(part.node);
    }
    return nodes;
  }

  // The nodes with room for a task of it for its whole time; none when they are too few.
  std::vector<NodeSnapshot> IdleFor(const JobSpec& spec, const ResourceRequest& request,
                                    const JobPartition& partition) {
    std::vector<DemandScale> scales;
    for (const NodeCapacity& capacity : capacities_) {
      scales.push_back(ScaleOf(capacity, request, true));
    }
    const Time end = NeededUntil(snapshot_.now, PlannedDuration(spec.time_limit));
    looks_ += nodes_.size();
    std::uint64_t room = 0;
    std::vector<std::uint32_t> able;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (!idle_[i] || promised_from_[i] < end) {
        continue;
      }
      const std::uint32_t tasks = RoomFor(free_[i], capacities_[capacity_of_[i]],
                                          scales[capacity_of_[i]], MostTasksOnNode(request));
      if (tasks > 0 && NodeMay(nodes_[i], request) && !IsKeptOff(nodes_[i], request) &&
          users_[i].Admit(spec.user.uid, spec.request.exclusive_user) &&
          (!HasRules() || NodeMayByPolicy(*snapshot_.policy, nodes_[i].id, spec, partition,
                                          snapshot_.now, EndBy(spec, snapshot_.now)))) {
        room += tasks;
        able.push_back(i);
      }
    }
    std::vector<NodeSnapshot> idle;
    if (room >= request.tasks && able.size() >= request.min_nodes) {
      for (const std::uint32_t i : able) {
        idle.push_back(nodes_[i]);
      }
    }
    return idle;
  }

  const Snapshot& snapshot_;
  const Plan& plan_;
  const SchedulerConfig& config_;
  CycleCounts counts_;
  CycleUsage usage_;
  std::vector<NodeSnapshot> nodes_;             // with the plan's starts on them
  std::map<JobId, const WaitingJob*> waiting_;  // by an entry's first id
  std::map<NodeId, std::uint32_t> positions_;
  std::vector<NodeUsers> users_;  // of each node, where some job may want to be among its user's
  std::vector<NodeCapacity> capacities_;
  std::vector<std::uint32_t> capacity_of_;  // by node, as are those that follow
  std::vector<FreeAmounts> free_;
  std::vector<bool> idle_;
  std::vector<Time> promised_from_;
  std::set<JobId> reserved_;              // those with a planned start
  std::set<std::uint64_t> fits_nowhere_;  // shapes
  std::size_t looks_ = 0;
  bool unknown_ahead_ = false;  // some job that was looked at has no known start
  bool held_up_ahead_ = false;  // likewise, a reservation or switches hold it up
};

}  // namespace

std::vector<OverlookedJob> FindOverlooked(const Snapshot& snapshot, const Plan& plan,
                                          const SchedulerConfig& config) {
  // A job that is about to grow has room kept on nodes that no plan names.
  const bool growing = std::any_of(snapshot.running.begin(), snapshot.running.end(),
                                   [](const RunningJob& job) { return job.resizing; });
  return plan.waiting.empty() || growing ? std::vector<OverlookedJob>()
                                         : Round(snapshot, plan, config).Run();
}

std::vector<OverlookedJob> Watchdog::ReportOverlooked(
    const std::vector<OverlookedJob>& overlooked) {
  std::map<JobId, Seen> seen;
  std::vector<OverlookedJob> alerts;
  for (const OverlookedJob& job : overlooked) {
    const auto before = seen_.find(job.job);
    Seen& now = seen[job.job];
    now.job = job;
    now.cycles = 1;
    if (before != seen_.end()) {
      now.job.since = before->second.job.since;
      now.cycles = before->second.cycles + 1;
      now.reported = before->second.reported;
    }
    if (!now.reported && now.cycles > kPatience && job.since - now.job.since >= kPatienceTime) {
      now.reported = true;
      alerts.push_back(now.job);
    }
  }
  seen_ = std::move(seen);
  return alerts;
}

std::vector<OverlookedJob> Watchdog::alerts() const {
  std::vector<OverlookedJob> alerts;
  for (const auto& [id, seen] : seen_) {
    if (seen.reported) {
      alerts.push_back(seen.job);
    }
  }
  return alerts;
}

}  // namespace muster::core
