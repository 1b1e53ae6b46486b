#include "scheduler/core/state/tables/policy_use_table.h"

#include <algorithm>
#include <set>

#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/core/state/tables/charge.h"
#include "scheduler/core/state/tables/usage_keys.h"

namespace muster::core {
namespace {

using NamedNodes = std::vector<std::pair<NodeId, std::string>>;

NodeGroup GroupOf(const std::string& list, bool empty_is_all, const NamedNodes& nodes) {
  NodeGroup group;
  if (list == "ALL" || (list.empty() && empty_is_all)) {
    group.all = true;
    return group;
  }
  const absl::StatusOr<std::vector<std::string>> names = NodeNames(list);
  if (!names.ok()) {
    return group;
  }
  group.named = static_cast<std::uint32_t>(names->size());
  const std::set<std::string> wanted(names->begin(), names->end());
  for (const auto& [id, name] : nodes) {
    if (wanted.contains(name)) {
      group.members.resize(std::max<std::size_t>(group.members.size(), id.value() + 1));
      group.members[id.value()] = true;
    }
  }
  return group;
}

std::uint32_t FactorOf(const SitePolicy& site, const std::string& qos) {
  const Qos* found = FindQos(site, EffectiveQos(qos));
  return found == nullptr ? 1000 : found->usage_factor;
}

bool HoldsBudget(const SitePolicy& site, const UsageKey& key) {
  const Limits* limits = LimitsOf(site, key);
  return limits != nullptr && HasBudget(*limits);
}

UseCount& At(PolicyUsage& usage, const UsageKey& key) {
  return usage.counts[key];
}

void DropEmpty(PolicyUsage& usage, const UsageKey& key) {
  const auto found = usage.counts.find(key);
  if (found != usage.counts.end() && found->second == UseCount()) {
    usage.counts.erase(found);
  }
}

std::vector<std::string> Only(const std::string& partition) {
  return {EffectivePartition(partition)};
}

UsageKey KeyOf(const PolicyObject& object) {
  switch (KindOf(object)) {
    case PolicyKind::kAccount:
      return UsageKey{UsageScope::kAccount, NameOf(object), ""};
    case PolicyKind::kAssociation: {
      const auto& association = std::get<AssociationRules>(object);
      return UsageKey{UsageScope::kAssociation, association.account, association.user};
    }
    default:
      return UsageKey{UsageScope::kQos, NameOf(object), ""};
  }
}

// When the job's time limit ends it; kNoTime: it has none, or nobody knows while it is suspended.
Time EndOfCharge(const Job& job) {
  const Attempt& attempt = *job.attempt;
  return HoldsCores(attempt) ? ChargedUntil(*job.spec, attempt.started + attempt.suspended_total)
                             : kNoTime;
}

}  // namespace

void PolicyUseTable::Load(const std::vector<PolicyObject>& objects, const std::vector<Spent>& spent,
                          const JobTable& jobs, const Nodes& nodes) {
  auto site = std::make_shared<SitePolicy>();
  for (const PolicyObject& object : objects) {
    Put(*site, object);
  }
  snapshot_.site = std::move(site);
  FindNodes(nodes);
  snapshot_.usage.running.clear();
  for (const Spent& row : spent) {
    SpentAmount& amount = snapshot_.usage.spent[UsageKey{row.scope, row.name, row.user}];
    amount.tres.cpus = row.cpu_seconds;
    amount.tres.memory = row.memory_mib_seconds;
    amount.tres.nodes = row.node_seconds;
    amount.wall = row.wall_seconds;
    for (std::size_t i = 0; i < std::min(row.gpu_models.size(), row.gpu_milliseconds.size()); ++i) {
      amount.tres.gpus[row.gpu_models[i]] = row.gpu_milliseconds[i];
    }
  }
  if (active()) {
    snapshot_.usage = Recount(jobs, nodes);
  }
}

void PolicyUseTable::Change(const PolicyChanged& event, const JobTable& jobs, const Nodes& nodes) {
  auto site = std::make_shared<SitePolicy>(*snapshot_.site);
  if (event.deleted) {
    Erase(*site, KindOf(event.object), NameOf(event.object));
  } else {
    Put(*site, event.object);
  }
  snapshot_.site = std::move(site);
  const UsageKey key = KeyOf(event.object);
  if (event.spent_reset || !HoldsBudget(*snapshot_.site, key)) {
    snapshot_.usage.spent.erase(key);
  }
  FindNodes(nodes);
  snapshot_.usage = Recount(jobs, nodes);
}

void PolicyUseTable::AddNode(const Node& node) {
  known_.emplace_back(node.id, node.name);
  if (!active()) {
    return;
  }
  Regroup();
}

void PolicyUseTable::RemoveNode(NodeId node) {
  std::erase_if(known_, [node](const auto& known) { return known.first == node; });
  if (active()) {
    Regroup();
  }
}

void PolicyUseTable::Regroup() {
  auto groups = std::make_shared<PolicyNodes>();
  for (const auto& [name, partition] : site().partitions) {
    groups->partitions[name] = GroupOf(partition.nodes, true, known_);
  }
  for (const auto& [name, reservation] : site().reservations) {
    groups->reservations[name] = GroupOf(reservation.nodes, false, known_);
  }
  snapshot_.nodes = std::move(groups);
}

void PolicyUseTable::FindNodes(const Nodes& nodes) {
  known_.clear();
  for (const auto& [id, node] : nodes) {
    known_.emplace_back(id, node.name);
  }
  Regroup();
}

void PolicyUseTable::Submit(const JobSpec& spec, std::uint64_t count) {
  if (!active()) {
    return;
  }
  for (const UsageKey& key : KeysOf(site(), spec, PartitionNames(spec))) {
    At(snapshot_.usage, key).submitted += count;
  }
}

void PolicyUseTable::Forget(const JobSpec& spec) {
  if (!active()) {
    return;
  }
  for (const UsageKey& key : KeysOf(site(), spec, PartitionNames(spec))) {
    UseCount& count = At(snapshot_.usage, key);
    MUSTER_CHECK(count.submitted > 0);
    --count.submitted;
    DropEmpty(snapshot_.usage, key);
  }
}

void PolicyUseTable::Update(const JobSpec& before, const Job& job) {
  if (!active()) {
    return;
  }
  Submit(*job.spec, 1);
  Forget(before);
  const auto found = snapshot_.usage.running.find(job.id);
  if (found == snapshot_.usage.running.end()) {
    return;
  }
  RunningCharge charge = found->second;
  Discharge(site(), snapshot_.usage, before, charge);
  snapshot_.usage.running.erase(found);
  charge.ends = EndOfCharge(job);
  Charge(site(), snapshot_.usage, *job.spec, charge);
}

RunningCharge PolicyUseTable::ChargeOf(const Job& job, const Nodes& nodes) const {
  const auto known = snapshot_.usage.running.find(job.id);
  if (known != snapshot_.usage.running.end()) {
    return known->second;
  }
  RunningCharge charge = muster::core::ChargeOf(
      job.id, *job.spec, job.attempt->partition, job.attempt->started, job.attempt->allocation,
      [&](NodeId node) -> const Machine& { return *nodes.at(node).machine; });
  charge.ends = EndOfCharge(job);
  return charge;
}

void PolicyUseTable::Charge(const SitePolicy& site, PolicyUsage& usage, const JobSpec& spec,
                            const RunningCharge& charge) {
  const std::uint64_t wall = WallSeconds(spec.time_limit);
  const TresUse promise = ForBudget(charge.tres, FactorOf(site, spec.qos));
  for (const UsageKey& key : KeysOf(site, spec, Only(charge.partition))) {
    UseCount& count = At(usage, key);
    ++count.running;
    Add(count.held, charge.tres);
    if (HoldsBudget(site, key)) {
      Add(count.promised, promise, wall);
      count.promised_wall += wall;
    }
  }
  usage.running.emplace(charge.job, charge);
}

void PolicyUseTable::Discharge(const SitePolicy& site, PolicyUsage& usage, const JobSpec& spec,
                               const RunningCharge& charge) {
  const std::uint64_t wall = WallSeconds(spec.time_limit);
  const TresUse promise = ForBudget(charge.tres, FactorOf(site, spec.qos));
  for (const UsageKey& key : KeysOf(site, spec, Only(charge.partition))) {
    UseCount& count = At(usage, key);
    MUSTER_CHECK(count.running > 0);
    --count.running;
    Subtract(count.held, charge.tres);
    if (HoldsBudget(site, key)) {
      Subtract(count.promised, promise, wall);
      count.promised_wall -= wall;
    }
    DropEmpty(usage, key);
  }
}

void PolicyUseTable::Start(const Job& job, const Nodes& nodes) {
  if (active()) {
    Charge(site(), snapshot_.usage, *job.spec, ChargeOf(job, nodes));
  }
}

void PolicyUseTable::Suspend(const Job& job) {
  const auto found = snapshot_.usage.running.find(job.id);
  if (found != snapshot_.usage.running.end()) {
    found->second.ends = EndOfCharge(job);
  }
}

void PolicyUseTable::End(const Job& job, Time now) {
  const auto found = snapshot_.usage.running.find(job.id);
  if (!active() || found == snapshot_.usage.running.end()) {
    return;
  }
  const RunningCharge charge = found->second;
  const std::uint64_t seconds =
      WallSeconds(std::max(now - CountedFrom(*job.attempt, now), Duration(0)));
  const TresUse used = ForBudget(charge.tres, FactorOf(site(), job.spec->qos));
  for (const UsageKey& key : BudgetsOf(job)) {
    SpentAmount& spent = snapshot_.usage.spent[key];
    Add(spent.tres, used, seconds);
    spent.wall += seconds;
  }
  Discharge(site(), snapshot_.usage, *job.spec, charge);
  snapshot_.usage.running.erase(job.id);
}

std::vector<UsageKey> PolicyUseTable::BudgetsOf(const Job& job) const {
  std::vector<UsageKey> budgets;
  const auto found = snapshot_.usage.running.find(job.id);
  if (found == snapshot_.usage.running.end()) {
    return budgets;
  }
  for (const UsageKey& key : KeysOf(site(), *job.spec, Only(found->second.partition))) {
    if (HoldsBudget(site(), key)) {
      budgets.push_back(key);
    }
  }
  return budgets;
}

std::optional<Spent> PolicyUseTable::SpentOf(const UsageKey& key) const {
  const auto found = snapshot_.usage.spent.find(key);
  if (found == snapshot_.usage.spent.end()) {
    return std::nullopt;
  }
  const TresUse& tres = found->second.tres;
  Spent row{key.scope,  key.name, key.user, tres.cpus,         tres.memory,
            tres.nodes, {},       {},       found->second.wall};
  for (const auto& [model, amount] : tres.gpus) {
    row.gpu_models.push_back(model);
    row.gpu_milliseconds.push_back(amount);
  }
  return row;
}

PolicyUsage PolicyUseTable::Recount(const JobTable& jobs, const Nodes& nodes) const {
  PolicyUsage usage;
  usage.spent = snapshot_.usage.spent;
  if (!active()) {
    return usage;
  }
  const JobSpec* spec = nullptr;
  std::vector<UsageKey> keys;
  jobs.ForEachRun([&](const Job& job, std::uint32_t count) {
    if (job.spec.get() != spec) {  // elements of an array stand together and share theirs
      spec = job.spec.get();
      keys = KeysOf(site(), *spec, PartitionNames(*spec));
    }
    for (const UsageKey& key : keys) {
      At(usage, key).submitted += count;
    }
    if (job.attempt.has_value()) {
      Charge(site(), usage, *spec, ChargeOf(job, nodes));
    }
  });
  return usage;
}

}  // namespace muster::core
