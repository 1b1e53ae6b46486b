#include "daemon/client/views/policy_views.h"

#include "absl/strings/str_cat.h"
#include "scheduler/core/state/tables/usage_keys.h"
#include "scheduler/model/policy/policy_text.h"

namespace muster::daemon {
namespace {

// "cpu=10,mem=4G,node=2,gres/gpu=2".
std::string HeldText(const TresUse& use) {
  TresList list;
  const auto add = [&](TresKind kind, std::uint64_t count) {
    if (count > 0) {
      list.push_back(Tres{kind, "", count});
    }
  };
  std::uint64_t gpus = 0;
  for (const auto& [model, share] : use.gpus) {
    gpus += share;
  }
  add(TresKind::kCpu, use.cpus);
  add(TresKind::kMemory, use.memory);
  add(TresKind::kNode, use.nodes);
  add(TresKind::kGpu, (gpus + kWholeGpu.value() - 1) / kWholeGpu.value());
  return TresText(list);
}

std::string SpentText(const SpentAmount& spent) {
  constexpr std::uint64_t kMinute = 60;
  TresUse minutes;
  minutes.cpus = spent.tres.cpus / kMinute;
  minutes.memory = (spent.tres.memory / kMinute) << 20U;
  minutes.nodes = spent.tres.nodes / kMinute;
  for (const auto& [model, share] : spent.tres.gpus) {
    minutes.gpus[model] = share / kMinute;
  }
  const std::string text = HeldText(minutes);
  return absl::StrCat(text, text.empty() ? "" : ",", "wall=", spent.wall / kMinute);
}

void AddUsage(const PolicyUsage& usage, const UsageKey& key, PolicyView& view) {
  const auto count = usage.counts.find(key);
  if (count != usage.counts.end()) {
    view.jobs_submitted = count->second.submitted;
    view.jobs_running = count->second.running;
    view.held = HeldText(count->second.held);
  }
  const auto spent = usage.spent.find(key);
  if (spent != usage.spent.end()) {
    view.spent = SpentText(spent->second);
  }
}

std::uint32_t Members(const core::ClusterState& state,
                      const std::map<std::string, NodeGroup>& groups, const std::string& name) {
  const auto group = groups.find(name);
  std::uint32_t members = 0;
  for (const auto& [id, node] : state.nodes()) {
    members += group == groups.end() || group->second.Has(id) ? 1 : 0;
  }
  return members;
}

std::string StateOf(const Reservation& reservation, Time now) {
  const std::optional<Window> window = WindowAt(reservation, now);
  return !window.has_value() ? "OVER" : window->start <= now ? "ACTIVE" : "INACTIVE";
}

const char* StateOf(const Partition& partition) {
  switch (partition.state) {
    case PartitionState::kUp:
      return "UP";
    case PartitionState::kDown:
      return "DOWN";
    case PartitionState::kDrain:
      return "DRAIN";
    case PartitionState::kInactive:
      return "INACTIVE";
  }
  return "";
}

PolicyView ViewOf(const core::ClusterState& state, const PolicyObject& object, Time now) {
  const PolicySnapshot& snapshot = state.policy().snapshot();
  PolicyView view;
  view.kind = Name(KindOf(object));
  view.name = NameOf(object);
  view.properties = Describe(object);
  view.configured = IsConfigured(object);
  AddUsage(snapshot.usage, core::KeyOf(KindOf(object), view.name), view);
  if (const auto* partition = std::get_if<Partition>(&object)) {
    view.state = StateOf(*partition);
    view.nodes = Members(state, snapshot.nodes->partitions, view.name);
  } else if (const auto* reservation = std::get_if<Reservation>(&object)) {
    view.state = StateOf(*reservation, now);
    view.nodes = Members(state, snapshot.nodes->reservations, view.name);
  }
  return view;
}

}  // namespace

std::vector<PolicyView> PolicyViewsOf(const core::ClusterState& state, PolicyKind kind, Time now) {
  std::vector<PolicyView> views;
  for (const PolicyObject& object : ObjectsOf(state.policy().site())) {
    if (KindOf(object) == kind) {
      views.push_back(ViewOf(state, object, now));
    }
  }
  const bool partitions = kind == PolicyKind::kPartition && views.empty();
  const bool qos =
      kind == PolicyKind::kQos && FindQos(state.policy().site(), kImpliedQos) == nullptr;
  if (partitions || qos) {
    PolicyView implied =
        ViewOf(state, MakePolicyObject(kind, partitions ? kImpliedPartition : kImpliedQos), now);
    implied.implied = true;
    views.insert(views.begin(), std::move(implied));
  }
  return views;
}

PolicyChangeView ViewOf(const PolicyChanged& change) {
  return PolicyChangeView{change.time,           change.by.name, Name(KindOf(change.object)),
                          NameOf(change.object), change.deleted, change.text};
}

}  // namespace muster::daemon
