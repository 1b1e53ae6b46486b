#include "scheduler/core/plan/search/start_options.h"

#include <optional>

#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/nodes/node_timeline.h"
#include "scheduler/core/policy/policy_filter.h"
#include "scheduler/core/state/tables/alternatives.h"
#include "scheduler/model/plan/node_data.h"
#include "scheduler/model/value/fingerprint.h"

namespace muster::core {
namespace {

// Specs of jobs that no longer wait are forgotten when they are this many more than those that do.
constexpr std::size_t kSpecsAside = 4096;

// `some_narrow`: not every node takes jobs that may span nodes.
void FindAllowed(const Snapshot& snapshot, bool some_narrow, StartOption& option) {
  option.allowed = option.inside;
  if (!DescribesNodes(option.request) && !(some_narrow && MaySpanNodes(option.request))) {
    return;
  }
  option.allowed.resize(snapshot.nodes.size(), true);
  for (std::size_t node = 0; node < snapshot.nodes.size(); ++node) {
    option.allowed[node] = option.allowed[node] && NodeMay(snapshot.nodes[node], option.request) &&
                           !IsKeptOff(snapshot.nodes[node], option.request);
  }
}

// Points the need into the option that holds it.
void Bind(StartOption& option) {
  option.need.request = &option.request;
  option.need.inside = option.inside.empty() ? nullptr : &option.inside;
  option.need.allowed = option.allowed.empty() ? nullptr : &option.allowed;
}

}  // namespace

StartOptions::StartOptions(const Snapshot& snapshot)
    : snapshot_(&snapshot),
      has_rules_(HasRules(snapshot)),
      some_narrow_(std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(),
                               [](const NodeSnapshot& node) { return node.narrow; })) {}

bool StartOptions::MoveTo(const Snapshot& next) {
  snapshot_ = &next;
  return reserved_.empty() && by_spec_.size() <= 2 * next.waiting.size() + kSpecsAside;
}

const std::vector<const StartOption*>& StartOptions::Of(
    const std::shared_ptr<const JobSpec>& asked) {
  const JobSpec& spec = *asked;
  const auto [known, is_new] = by_spec_.try_emplace(&spec);
  std::vector<const StartOption*>& options = known->second.options;
  if (is_new) {
    known->second.spec = asked;
  }
  for (std::uint32_t i = 0; is_new && i < AlternativesOf(spec); ++i) {
    const std::optional<JobSpec> chosen =
        i == 0 ? std::nullopt : std::optional(AsChosen(spec, i, 0));
    const JobSpec& alternative = chosen.has_value() ? *chosen : spec;
    if (!has_rules_) {
      AddIn(JobPartition{}, alternative, i, options);
      continue;
    }
    for (const JobPartition& partition : PartitionsOf(*snapshot_->policy, alternative)) {
      if (!PartitionBlocker(*snapshot_->policy, alternative, partition).has_value()) {
        AddIn(partition, alternative, i, options);
      }
    }
  }
  return options;
}

void StartOptions::AddIn(const JobPartition& partition, const JobSpec& spec,
                         std::uint32_t alternative, std::vector<const StartOption*>& options) {
  ResourceRequest request =
      has_rules_ ? RequestIn(*snapshot_->policy, spec, partition) : spec.request;
  const bool few = request.switches > 0 && snapshot_->network != nullptr;
  StartOption& option = OptionIn(partition, spec, alternative, request);
  if (few && option.anywhere == nullptr) {
    request.switches = 0;
    request.switches_wait = Duration(0);
    option.anywhere = &OptionIn(partition, spec, alternative, std::move(request));
  }
  options.push_back(&option);
}

StartOption& StartOptions::OptionIn(const JobPartition& partition, const JobSpec& spec,
                                    std::uint32_t alternative, ResourceRequest request) {
  const std::uint32_t user = snapshot_->by_user ? spec.user.uid : kAnyUser;
  std::vector<std::uint64_t> marks = MarksOf(spec);
  Fingerprint print;
  print.Add(user).Add(request).Add(spec.time_limit).Add(partition.name).Add(spec.reservation);
  print.Add(alternative);
  for (const std::uint64_t mark : marks) {
    print.Add(mark);
  }
  const std::uint64_t shape = print.value();
  const auto [known, is_new] = by_shape_.try_emplace(shape);
  StartOption& option = known->second;
  if (is_new) {
    option.number = static_cast<std::uint32_t>(by_shape_.size()) - 1;
    option.alternative = alternative;
    option.partition = partition.name;
    option.request = std::move(request);
    FindInside(spec, partition, option);
    FindAllowed(*snapshot_, some_narrow_, option);
    option.need.duration = PlannedDuration(spec.time_limit);
    option.need.shape = shape;
    option.need.marks = std::move(marks);
    option.need.user = user;
    option.need.reserved = has_rules_ ? ReservedFor(spec.reservation) : nullptr;
    Bind(option);
  }
  return option;
}

const StartOption* StartOptions::OnNodes(const StartOption& option, std::uint32_t nodes) {
  const std::uint64_t shape = Fingerprint().Add(option.need.shape).Add(nodes).value();
  const auto [known, is_new] = by_shape_.try_emplace(shape, option);
  StartOption& sized = known->second;
  if (is_new) {
    sized.number = static_cast<std::uint32_t>(by_shape_.size()) - 1;
    sized.tasks = nodes * TasksOnEach(option.request);
    sized.request.tasks = sized.tasks;
    sized.request.min_nodes = nodes;
    sized.request.max_nodes = nodes;
    sized.need.shape = shape;
    Bind(sized);
  }
  return &sized;
}

void StartOptions::FindInside(const JobSpec& spec, const JobPartition& partition,
                              StartOption& option) const {
  const NodeGroup* own = nullptr;  // the nodes of its reservation, which it may not leave
  if (has_rules_ && !spec.reservation.empty()) {
    const Reservation* reservation = FindReservation(*snapshot_->policy->site, spec.reservation);
    const auto nodes = snapshot_->policy->nodes->reservations.find(spec.reservation);
    if (reservation != nullptr && (reservation->flags & kFlex) == 0 &&
        nodes != snapshot_->policy->nodes->reservations.end()) {
      own = &nodes->second;
    }
  }
  if (own == nullptr && (partition.nodes == nullptr || partition.nodes->all)) {
    return;
  }
  option.inside.reserve(snapshot_->nodes.size());
  for (const NodeSnapshot& node : snapshot_->nodes) {
    option.inside.push_back((partition.nodes == nullptr || partition.nodes->Has(node.id)) &&
                            (own == nullptr || own->Has(node.id)));
  }
}

const ReservedNodes* StartOptions::ReservedFor(const std::string& own) {
  if (snapshot_->policy->nodes->reservations.empty()) {
    return nullptr;
  }
  const auto [known, is_new] = reserved_.try_emplace(own, *snapshot_, own);
  return known->second.empty() ? nullptr : &known->second;
}

}  // namespace muster::core
