#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/core/history.h"

namespace muster::core::testing {

void History::Lose(SimAgent& agent) {
  agent.linked = false;
  if (agent.id.valid()) {
    Take(LoseAgent{agent.id});
  }
}

void History::Register(SimAgent& agent) {
  Registration registration = agent.registration;
  registration.epoch_seen = state_.epoch();
  for (const auto& [key, attempt] : agent.attempts) {
    registration.attempts.push_back(
        KnownAttempt{key.first, key.second, attempt.ended, attempt.allocation});
  }
  agent.linked = true;
  const Node* before = state_.FindNode(registration.name);
  const bool refused =
      before != nullptr && before->connected && before->instance != registration.instance;
  agent.id = before != nullptr ? before->id : state_.node_table().next();
  const muster::core::Transition transition = Take(RegisterAgent{registration});
  if (transition.status.ok() == refused) {
    Fail(absl::StrCat("registration: ", transition.status.ToString()));
  }
  agent.linked = agent.linked && !refused;
}

void History::LoseRecord(SimAgent& agent) {
  if (Chance(70)) {
    Lose(agent);
  }
  agent.registration.instance += "+";
  agent.attempts.clear();
  Register(agent);
  if (!agent.linked) {
    Lose(agent);
  }
}

void History::DrainOrForget(SimAgent& agent) {
  const std::string& name = agent.registration.name;
  if (Chance(75)) {
    const bool drained = Chance(40);
    const auto sometime = [&] {
      return drained && Chance(50) ? now_ + std::chrono::seconds(Number(1, 90)) : kNoTime;
    };
    Take(DrainNode{name, drained, "maintenance", sometime(), sometime()});
    return;
  }
  Lose(agent);
  const Node* const node = state_.FindNode(name);
  const bool free = node != nullptr && state_.JobsOn(node->id).empty() && node->quarantined.empty();
  if (Take(ForgetNode{name}).status.ok() != free) {
    Fail(absl::StrCat("forgotten, or not: ", name));
  }
}

// Some job that waits would have the node's first GPU divided. Nothing is drawn for it.
void History::WishForLayout(const SimAgent& agent) {
  const auto& waiting = state_.index().pending();
  const std::vector<MigGpu>& gpus = agent.registration.machine.mig;
  if (waiting.empty() || gpus.empty()) {
    return;
  }
  GpuLayout layout;
  layout.gpu = gpus.front().whole.uuid;
  layout.instances = {{"1g.5gb", 19, {0, 1}}};
  layout.job = *waiting.begin();
  layout.since = now_;
  Take(LayOutGpus{{{agent.id, layout}}});
}

// The agent cannot, and comes back with that word.
void History::Perform(const DivideGpu& order) {
  SimAgent* const agent = AgentOf(order.node);
  const Node* const node = state_.FindNode(order.node);
  if (agent == nullptr || node == nullptr) {
    return;
  }
  for (const GpuLayout& layout : node->gpu_layouts) {
    if (layout.gpu == order.gpu) {
      agent->registration.layout = {layout.number, "it is in use"};
    }
  }
  Lose(*agent);
  Register(*agent);
}

void History::SeeToHealth(const SimAgent& agent) {
  if (agent.linked && Chance(30)) {
    GpuOccupants occupants;
    for (std::uint32_t gpu = 0; gpu < Number(0, 2); ++gpu) {
      occupants.push_back({gpu, Number(1, 2), "alice", "python", Bytes(1)});
    }
    Take(TakeGpuOccupants{agent.id, std::move(occupants)});
    WishForLayout(agent);
    return;
  }
  const NodeHealth& health = state_.health().Of(agent.id);
  if (health.running && Chance(70)) {
    HealthReport report;
    report.number = health.number;
    report.outcome = Chance(80) ? HealthOutcome::kMeasured : HealthOutcome::kYielded;
    report.figures = {{"clock", "GHz", HealthSense::kHigher, Chance(50) ? 3'000U : 1'000U, 4'000}};
    Take(TakeHealthReport{agent.id, report});
  } else if (Chance(50)) {
    Take(TickHealth{});
  } else {
    const std::string& name = agent.registration.name;
    Take(Chance(30) ? Command(RebootNode{name, "kernel", Chance(50), false, Chance(30)})
                    : Command(CheckNodeHealth{name, HealthKind::kQuick, Chance(50)}));
  }
}

// Now and then some conditions begin, some last, some are over. Nothing is drawn for it.
void History::SettleSomeAlerts() {
  constexpr std::uint32_t kEvery = 29;
  if (++turns_ % kEvery != 0) {
    return;
  }
  SettleAlerts found;
  for (const auto& [id, node] : state_.nodes()) {
    if ((turns_ / kEvery + id.value()) % 3 != 0) {
      Alert alert;
      alert.rule = "NodeSilent";
      alert.subject = alert.node = node.name;
      alert.since = now_;
      found.open.push_back(std::move(alert));
    }
  }
  Take(found);
}

// Now and then a link between two switches is narrow, or is so no more. Nothing is drawn for it.
void History::NarrowSomeLink() {
  constexpr std::uint32_t kEvery = 17;
  if (config_.network == nullptr || turns_ % kEvery != 0) {
    return;
  }
  const std::vector<NetworkSwitch>& switches = config_.network->switches;
  const std::uint32_t turn = turns_ / kEvery;
  DrainNode command{switches[turn % switches.size()].name, turn % 3 != 0, "half its cables"};
  command.link_to = switches[turn / 2 % switches.size()].name;
  Take(command);
}

void History::ResumeLinks() {
  const std::vector<NarrowLink> links = state_.narrow_links().all();
  for (const NarrowLink& link : links) {
    DrainNode command{link.first, /*drained=*/false, ""};
    command.link_to = link.second;
    Take(command);
  }
}

}  // namespace muster::core::testing
