#include "scheduler/core/state/tables/health_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/core/state/tables/failure_rate.h"

namespace muster::core {
namespace {

constexpr std::size_t kPoolWanted = 64;  // samples of a small class
constexpr std::size_t kPoolMost = 256;   // and of a large one: more changes the median by little

HealthBaseline& BaselineOf(NodeHealth& health, const std::string& component) {
  for (HealthBaseline& baseline : health.baselines) {
    if (baseline.component == component) {
      return baseline;
    }
  }
  constexpr std::size_t kComponentsMax = 256;
  if (health.baselines.size() >= kComponentsMax) {
    health.baselines.erase(health.baselines.begin());
  }
  return health.baselines.emplace_back(HealthBaseline{component, {}});
}

void AppendNewest(const NodeHealth& health, const std::string& component, std::size_t most,
                  std::vector<std::uint64_t>& pool) {
  for (const HealthBaseline& baseline : health.baselines) {
    if (baseline.component == component) {
      const std::size_t count = std::min(most, baseline.values.size());
      pool.insert(pool.end(), baseline.values.end() - static_cast<std::ptrdiff_t>(count),
                  baseline.values.end());
      return;
    }
  }
}

bool IsCompared(const HealthVerdict& verdict) {
  const HealthSense sense = verdict.figure.sense;
  const bool good =
      verdict.status == HealthStatus::kGood || verdict.status == HealthStatus::kUnjudged;
  return good && (sense == HealthSense::kHigher || sense == HealthSense::kLower);
}

}  // namespace

std::string ClassName(const Machine& machine) {
  std::set<std::string> packages;
  for (const Package& package : machine.packages) {
    packages.insert(package.model);
  }
  std::set<std::string> gpus;
  for (const MigGpu& gpu : machine.mig) {
    gpus.insert(gpu.whole.model);  // however it is divided now
  }
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.by_name) {
      continue;
    }
    gpus.insert(gpu.instance.empty() ? gpu.model : absl::StrCat(gpu.model, " ", gpu.instance));
  }
  return absl::StrCat(machine.cores.size(), "/", AllCpus(machine).Count(), " x ",
                      absl::StrJoin(packages, ", "), "; ", absl::StrJoin(gpus, ", "));
}

void HealthTable::Load(std::vector<NodeHealth> health, const std::vector<FailureTally>& tallies) {
  for (NodeHealth& node : health) {
    const NodeId id = node.node;
    nodes_.insert_or_assign(id, std::move(node));
  }
  for (const FailureTally& loaded : tallies) {
    FailureTally& tally = tallies_[loaded.node];
    tally.node = loaded.node;
    ChangeTally(tally, [&loaded](FailureTally& changed) { changed = loaded; });
  }
}

template <class Change>
void HealthTable::ChangeTally(FailureTally& tally, const Change& change) {
  const auto name = class_of_.find(tally.node);
  FailureTally* const all = name == class_of_.end() ? nullptr : &class_tallies_[name->second];
  if (all != nullptr) {
    all->failures -= tally.failures;
    all->losses -= tally.losses;
    all->exposure -= tally.exposure;
  }
  change(tally);
  if (all != nullptr) {
    all->failures += tally.failures;
    all->losses += tally.losses;
    all->exposure += tally.exposure;
  }
}

void HealthTable::NoteMachine(NodeId node, const Machine& machine) {
  std::string name = ClassName(machine);
  std::string& before = class_of_[node];
  if (before == name) {
    return;
  }
  const auto old = classes_.find(before);
  if (old != classes_.end() && old->second.erase(node) > 0 && old->second.empty()) {
    classes_.erase(old);
  }
  classes_[name].insert(node);
  const auto tally = tallies_.find(node);
  if (tally != tallies_.end()) {  // it takes what it saw along
    const FailureTally seen = tally->second;
    ChangeTally(tally->second, [](FailureTally& changed) {
      changed.failures = 0;
      changed.losses = 0;
      changed.exposure = Duration(0);
    });
    before = std::move(name);
    ChangeTally(tally->second, [&seen](FailureTally& changed) { changed = seen; });
    return;
  }
  before = std::move(name);
}

Duration HealthTable::MtbfOf(const Allocation& allocation) const {
  return MeanTime(allocation, FailuresPerHour);
}

Duration HealthTable::LossMtbfOf(const Allocation& allocation) const {
  return MeanTime(allocation, LossesPerHour);
}

Duration HealthTable::MeanTime(const Allocation& allocation,
                               double (*per_hour)(const FailureTally&)) const {
  constexpr double kMillisecondsPerHour = 3.6e6;
  double events_per_hour = 0;
  for (const NodeAllocation& part : allocation.nodes) {
    const auto name = class_of_.find(part.node);
    const auto all =
        name == class_of_.end() ? class_tallies_.end() : class_tallies_.find(name->second);
    events_per_hour += per_hour(all == class_tallies_.end() ? FailureTally() : all->second);
  }
  return Duration(static_cast<std::int64_t>(kMillisecondsPerHour / events_per_hour));
}

NodeHealth& HealthTable::Touch(NodeId node) {
  NodeHealth& health = nodes_[node];
  health.node = node;
  return health;
}

void HealthTable::Order(const HealthCheckOrdered& event, const std::string& boot_id) {
  NodeHealth& health = Touch(event.node);
  health.number = event.number;
  health.running = true;
  health.kind = event.kind;
  health.cause = event.cause;
  health.ordered = event.time;
  health.boot_id = boot_id;
}

void HealthTable::Want(const HealthCheckWanted& event) {
  NodeHealth& health = Touch(event.node);
  health.wanted = true;
  health.wanted_kind = event.kind;
}

void HealthTable::Take(const HealthChecked& event) {
  NodeHealth& health = Touch(event.node);
  health.running = false;
  health.tried = event.time;
  const HealthRecord& record = event.record;
  // One that somebody waits for is tried again when a job was in its way.
  health.wanted = health.wanted && record.outcome == HealthOutcome::kYielded;
  if (record.outcome != HealthOutcome::kMeasured) {
    return;
  }
  const bool slow = record.status == HealthStatus::kSuspect;
  health.slow = slow ? health.slow + 1 : 0;
  Learn(health, record);
  health.last = record;
}

// Only what was good is learned: a node that is slow does not become the measure of itself.
void HealthTable::Learn(NodeHealth& health, const HealthRecord& record) {
  for (const HealthVerdict& verdict : record.verdicts) {
    if (IsCompared(verdict)) {
      std::vector<std::uint64_t>& values = BaselineOf(health, verdict.figure.component).values;
      if (values.size() >= kBaselineValues) {
        values.erase(values.begin());
      }
      values.push_back(verdict.figure.value);
    }
  }
}

void HealthTable::Drain(const NodeDrained& event) {
  if (event.by_health || nodes_.contains(event.node)) {
    NodeHealth& health = Touch(event.node);
    health.drained = event.drained && event.by_health;
    health.slow = event.drained || event.narrow ? health.slow : 0;
  }
  // Whoever resumes a node vouches for it: its record begins again.
  const auto tally = event.drained || event.narrow ? tallies_.end() : tallies_.find(event.node);
  if (tally != tallies_.end()) {
    ChangeTally(tally->second,
                [](FailureTally& changed) { changed.failures = changed.losses = 0; });
  }
}

void HealthTable::Forget(NodeId node) {
  if (const auto tally = tallies_.find(node); tally != tallies_.end()) {
    ChangeTally(tally->second, [](FailureTally& changed) {
      changed.failures = 0;
      changed.losses = 0;
      changed.exposure = Duration(0);
    });
    tallies_.erase(tally);
  }
  nodes_.erase(node);
  const auto name = class_of_.find(node);
  if (name == class_of_.end()) {
    return;
  }
  const auto members = classes_.find(name->second);
  members->second.erase(node);
  if (members->second.empty()) {
    class_tallies_.erase(name->second);
    classes_.erase(members);
  }
  class_of_.erase(name);
}

void HealthTable::NoteRunEnd(NodeId node, const RunEnded& fact, Time started) {
  FailureTally& tally = tallies_[node];
  tally.node = node;
  const Duration ran = started == kNoTime ? Duration(0) : fact.time - started;
  ChangeTally(tally, [&](FailureTally& changed) { NoteEnd(changed, fact.cause, ran, fact.time); });
}

const NodeHealth& HealthTable::Of(NodeId node) const {
  static const NodeHealth fresh;
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? fresh : found->second;
}

const FailureTally& HealthTable::TallyOf(NodeId node) const {
  static const FailureTally fresh;
  const auto found = tallies_.find(node);
  return found == tallies_.end() ? fresh : found->second;
}

const std::set<NodeId>& HealthTable::ClassOf(NodeId node) const {
  static const std::set<NodeId> none;
  const auto name = class_of_.find(node);
  return name == class_of_.end() ? none : classes_.at(name->second);
}

std::vector<std::uint64_t> HealthTable::PoolOf(NodeId node, const std::string& component) const {
  const std::set<NodeId>& members = ClassOf(node);
  std::vector<std::uint64_t> pool;
  if (members.empty()) {
    return pool;
  }
  const std::size_t of_each =
      std::clamp<std::size_t>(kPoolWanted / members.size(), 1, kBaselineValues);
  const std::size_t stride = 1 + (members.size() - 1) / kPoolMost;
  std::size_t position = 0;
  for (const NodeId member : members) {
    const auto found = position++ % stride == 0 ? nodes_.find(member) : nodes_.end();
    if (found != nodes_.end()) {
      AppendNewest(found->second, component, of_each, pool);
    }
  }
  return pool;
}

std::uint32_t HealthTable::SickPermilleOf(NodeId node, Time now) const {
  FailureTally own = TallyOf(node);
  Fade(own, now);
  std::vector<FailureTally> others;
  for (const NodeId member : ClassOf(node)) {
    const auto found = member == node ? tallies_.end() : tallies_.find(member);
    if (found != tallies_.end()) {
      others.push_back(found->second);
      Fade(others.back(), now);
    }
  }
  return SickPermille(own, others);
}

std::size_t HealthTable::DrainedInClassOf(NodeId node) const {
  const std::set<NodeId>& members = ClassOf(node);
  return static_cast<std::size_t>(std::count_if(
      members.begin(), members.end(), [this](NodeId member) { return Of(member).drained; }));
}

}  // namespace muster::core
