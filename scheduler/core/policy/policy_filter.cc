#include "scheduler/core/policy/policy_filter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/core/policy/permission.h"
#include "scheduler/core/state/tables/alternatives.h"
#include "scheduler/core/state/tables/charge.h"
#include "scheduler/core/state/tables/usage_keys.h"

namespace muster::core {
namespace {

bool HasFlag(const PolicySnapshot& policy, const JobSpec& spec, QosFlag flag) {
  const Qos* qos = FindQos(*policy.site, EffectiveQos(spec.qos));
  return qos != nullptr && (qos->flags & flag) != 0;
}

Reason About(ReasonKind kind, const std::string& name) {
  Reason reason;
  reason.kind = kind;
  reason.name = name;
  return reason;
}

Reason Never(ReasonKind kind, const std::string& name, std::uint64_t needed,
             std::uint64_t capacity) {
  Reason reason = About(kind, name);
  reason.verdict = ReasonClass::kNever;
  reason.needed = needed;
  reason.capacity = capacity;
  return reason;
}

// True when the job that names the reservation may hold its nodes then.
bool WithinOwn(const Reservation& own, Time start, Time end) {
  if ((own.flags & kFlex) != 0) {
    return true;
  }
  const std::optional<Window> window = WindowAt(own, start);
  return window.has_value() && window->start <= start && end <= window->end;
}

// True when the job would meet an occurrence of somebody else's reservation.
bool Meets(const Reservation& other, Time start, Time end) {
  const std::optional<Window> window = WindowAt(other, start);
  return window.has_value() && window->start < end;
}

// Its own reservation: is it there, has it begun, is there time enough left?
std::optional<Reason> OwnReservation(const PolicySnapshot& policy, const JobSpec& spec, Time now) {
  const Reservation* own = FindReservation(*policy.site, spec.reservation);
  const std::optional<Window> window = own == nullptr ? std::nullopt : WindowAt(*own, now);
  if (!window.has_value()) {
    return About(ReasonKind::kReservationDeleted, spec.reservation);
  }
  if ((own->flags & kFlex) != 0) {
    return std::nullopt;
  }
  if (window->start > now) {
    Reason reason = About(ReasonKind::kReservation, absl::StrCat(spec.reservation, " begins"));
    reason.until = window->start;
    return reason;
  }
  if (EndBy(spec, now) > window->end) {
    Reason reason = About(ReasonKind::kReservation,
                          absl::StrCat(spec.reservation, " is too short for the job's --time"));
    reason.until = window->end;
    if (spec.time_limit.count() == 0 || spec.time_limit > own->end - own->start) {
      reason.verdict = ReasonClass::kNever;
    }
    return reason;
  }
  return std::nullopt;
}

void AddLimits(const JobSpec& spec, const std::vector<JobPartition>& open, CycleUsage& usage,
               std::vector<Reason>& reasons) {
  // What holds in one of its partitions need not hold in another: the fewest are told.
  std::optional<std::vector<Reason>> fewest;
  for (const JobPartition& partition : open) {
    std::vector<Reason> broken = CheckLimits(usage, LeastAsk(spec, partition.name));
    if (!fewest.has_value() || broken.size() < fewest->size()) {
      fewest = std::move(broken);
    }
  }
  if (fewest.has_value()) {
    reasons.insert(reasons.end(), fewest->begin(), fewest->end());
  }
}

}  // namespace

std::optional<Reason> PartitionBlocker(const PolicySnapshot& policy, const JobSpec& spec,
                                       const JobPartition& partition) {
  if (partition.rules == nullptr) {
    return std::nullopt;
  }
  const Partition& rules = *partition.rules;
  if (rules.state == PartitionState::kDown || rules.state == PartitionState::kInactive) {
    return About(rules.state == PartitionState::kDown ? ReasonKind::kPartitionDown
                                                      : ReasonKind::kPartitionInactive,
                 rules.name);
  }
  if (const absl::Status may = MayUsePartition(rules, spec); !may.ok()) {
    return About(ReasonKind::kInvalidAccount, std::string(may.message()));
  }
  const ResourceRequest& request = spec.request;
  if (rules.max_nodes.has_value() && request.min_nodes > *rules.max_nodes &&
      !HasFlag(policy, spec, kPartitionMaxNodes)) {
    return Never(ReasonKind::kPartitionNodeLimit, rules.name, request.min_nodes, *rules.max_nodes);
  }
  if (request.max_nodes < rules.min_nodes && !HasFlag(policy, spec, kPartitionMinNodes)) {
    return Never(ReasonKind::kPartitionNodeLimit, rules.name, request.max_nodes, rules.min_nodes);
  }
  return TimeBlocker(policy, spec, partition);
}

std::optional<Reason> TimeBlocker(const PolicySnapshot& policy, const JobSpec& spec,
                                  const JobPartition& partition) {
  if (partition.rules == nullptr) {
    return std::nullopt;
  }
  const Partition& rules = *partition.rules;
  if (rules.max_time.has_value() && !HasFlag(policy, spec, kPartitionTimeLimit) &&
      (spec.time_limit.count() == 0 || spec.time_limit > *rules.max_time)) {
    return Never(ReasonKind::kPartitionTimeLimit, rules.name, WallSeconds(spec.time_limit),
                 WallSeconds(*rules.max_time));
  }
  return std::nullopt;
}

ResourceRequest RequestIn(const PolicySnapshot& policy, const JobSpec& spec,
                          const JobPartition& partition) {
  ResourceRequest request = spec.request;
  if (partition.rules == nullptr) {
    return request;
  }
  const Partition& rules = *partition.rules;
  request.exclusive = request.exclusive || rules.exclusive;
  if (rules.max_nodes.has_value() && !HasFlag(policy, spec, kPartitionMaxNodes)) {
    request.max_nodes = std::min(request.max_nodes, *rules.max_nodes);
  }
  if (!HasFlag(policy, spec, kPartitionMinNodes)) {
    request.min_nodes = std::min(std::max(request.min_nodes, rules.min_nodes), request.max_nodes);
  }
  if (request.as_wide_as_fits) {  // its tasks are those of the least nodes, in whole segments
    if (request.segment > 1) {
      const std::uint32_t segment = request.segment;
      request.max_nodes -= request.max_nodes >= segment ? request.max_nodes % segment : 0;
      request.min_nodes =
          std::min((request.min_nodes + segment - 1) / segment * segment, request.max_nodes);
    }
    request.tasks = std::max(request.tasks, request.min_nodes * TasksOnEach(request));
  }
  return request;
}

bool NodeMayByPolicy(const PolicySnapshot& policy, NodeId node, const JobSpec& spec,
                     const JobPartition& partition, Time start, Time end) {
  if (partition.nodes != nullptr && !partition.nodes->Has(node)) {
    return false;
  }
  const Reservation* own =
      spec.reservation.empty() ? nullptr : FindReservation(*policy.site, spec.reservation);
  if (!spec.reservation.empty()) {
    const auto nodes = policy.nodes->reservations.find(spec.reservation);
    const bool inside = nodes != policy.nodes->reservations.end() && nodes->second.Has(node);
    if (own == nullptr || !WithinOwn(*own, start, end) || (!inside && (own->flags & kFlex) == 0)) {
      return false;
    }
  }
  for (const auto& [name, group] : policy.nodes->reservations) {
    if (name == spec.reservation || !group.Has(node)) {
      continue;
    }
    if (Meets(*FindReservation(*policy.site, name), start, end)) {
      return false;
    }
  }
  return true;
}

std::optional<ReservedFrom> ReservationInTheWay(const PolicySnapshot& policy, NodeId node,
                                                const JobSpec& spec, Time start, Time end) {
  const Reservation* own =
      spec.reservation.empty() ? nullptr : FindReservation(*policy.site, spec.reservation);
  if (own != nullptr && !WithinOwn(*own, start, end)) {
    const std::optional<Window> window = WindowAt(*own, start);
    return ReservedFrom{spec.reservation, window.has_value() ? window->end : start, true};
  }
  for (const auto& [name, group] : policy.nodes->reservations) {
    const Reservation* other = FindReservation(*policy.site, name);
    if (name != spec.reservation && group.Has(node) && Meets(*other, start, end)) {
      return ReservedFrom{name, std::max(WindowAt(*other, start)->start, start), false};
    }
  }
  return std::nullopt;
}

bool NodeMayByPolicy(const Snapshot& snapshot, const NodeSnapshot& node, const WaitingJob& job,
                     Time start, Time end) {
  if (!HasRules(snapshot)) {
    return true;
  }
  const std::vector<JobPartition> partitions = PartitionsOf(*snapshot.policy, *job.spec);
  return std::any_of(partitions.begin(), partitions.end(), [&](const JobPartition& partition) {
    return !PartitionBlocker(*snapshot.policy, *job.spec, partition).has_value() &&
           NodeMayByPolicy(*snapshot.policy, node.id, *job.spec, partition, start, end);
  });
}

bool MayStart(const PolicySnapshot& policy, const JobSpec& spec, const JobPartition& partition,
              const Allocation& allocation, Time now) {
  if (PartitionBlocker(policy, spec, partition).has_value() ||
      !MayUseAccountAndQos(*policy.site, spec).ok() ||
      (!spec.reservation.empty() && OwnReservation(policy, spec, now).has_value())) {
    return false;
  }
  return std::all_of(
      allocation.nodes.begin(), allocation.nodes.end(), [&](const NodeAllocation& part) {
        return NodeMayByPolicy(policy, part.node, spec, partition, now, EndBy(spec, now));
      });
}

void AddPolicyBlockers(const Snapshot& snapshot, const WaitingJob& job, CycleUsage& usage,
                       std::vector<Reason>& reasons) {
  if (!HasRules(snapshot)) {
    return;
  }
  const PolicySnapshot& policy = *snapshot.policy;
  const JobSpec& spec = *job.spec;
  const std::vector<JobPartition> partitions = PartitionsOf(policy, spec);
  if (partitions.empty()) {
    reasons.push_back(About(ReasonKind::kInvalidPartition, spec.partition));
  }
  std::vector<JobPartition> open;
  std::vector<Reason> closed;
  for (const JobPartition& partition : partitions) {
    if (std::optional<Reason> blocker = PartitionBlocker(policy, spec, partition)) {
      closed.push_back(*std::move(blocker));
    } else {
      open.push_back(partition);
    }
  }
  if (open.empty()) {
    reasons.insert(reasons.end(), closed.begin(), closed.end());
  }
  if (const absl::Status may = MayUseAccountAndQos(*policy.site, spec); !may.ok()) {
    reasons.push_back(
        About(absl::IsNotFound(may) ? ReasonKind::kInvalidQOS : ReasonKind::kInvalidAccount,
              std::string(may.message())));
  }
  if (!spec.reservation.empty()) {
    if (std::optional<Reason> blocker = OwnReservation(policy, spec, snapshot.now)) {
      reasons.push_back(*std::move(blocker));
    }
  }
  AddLimits(spec, open.empty() ? partitions : open, usage, reasons);
}

}  // namespace muster::core
