#include "scheduler/simulator/crash/simulator.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/model/value/fingerprint.h"
#include "scheduler/simulator/cluster/cluster_simulation.h"
#include "scheduler/simulator/crash/agents.h"
#include "scheduler/simulator/crash/clients.h"
#include "scheduler/simulator/crash/simulated_controller.h"
#include "scheduler/simulator/life/network.h"
#include "scheduler/simulator/life/oracle.h"
#include "scheduler/simulator/life/virtual_clock.h"
#include "scheduler/simulator/random_sequence.h"
#include "scheduler/simulator/workload/draws.h"
#include "scheduler/simulator/workload/machines.h"
#include "scheduler/simulator/workload/rare_changes.h"
#include "scheduler/simulator/workload/site_changes.h"

namespace muster::sim {
namespace {

// 2026-01-01 00:00 UTC.
constexpr Time kBeginning{Duration(1'767'225'600'000)};
// After faults stop, everything must be over within this time.
constexpr Duration kPatience = std::chrono::hours(1);
// How often the operator looks after a restored controller, and for how long without doing more.
constexpr Duration kLookEvery = std::chrono::seconds(5);
constexpr Duration kLookPatience = std::chrono::minutes(5);

// Simulated jobs run for seconds: what changes their size is in a hurry, too.
SchedulerConfig PolicyFor(const Scenario& scenario, std::uint64_t seed) {
  SchedulerConfig policy;
  if (scenario.wishes) {
    RandomSequence random(seed);
    DrawSettings(random, &policy);
    if (scenario.whole) {
      DrawRareSettings(scenario.nodes, random, &policy);
    }
  }
  if (scenario.elastic > 0) {
    policy.elastic.restart_cost = std::chrono::seconds(1);
    policy.elastic.last_call = std::chrono::seconds(2);
  }
  if (scenario.prompt) {
    policy.priority.order = QueueRule::kPrompt;
    policy.prompt.slack = std::chrono::seconds(30);
    policy.prompt.patience = std::chrono::seconds(60);
  }
  return policy;
}

using SitePolicyObjects = std::vector<PolicyObject>;

// Jobs of the QOS "high" preempt those of "low" and "mild".
SitePolicyObjects Preemption() {
  Qos high;
  high.name = "high";
  high.priority = 1000;
  high.preempt = {"low", "mild"};
  Qos low;
  low.name = "low";
  low.preempt_mode = PreemptMode::kRequeue;
  low.grace_time = std::chrono::seconds(2);
  Qos mild;
  mild.name = "mild";
  mild.preempt_mode = PreemptMode::kSuspend;
  return {high, low, mild};
}

// How often jobs changed their size.
void CountChanges(const std::vector<JournalEntry>& journal, SimulationResult* result) {
  std::set<JobId> growing;
  for (const JournalEntry& entry : journal) {
    const auto* ending = std::get_if<AttemptEnding>(&entry.event);
    if (ending != nullptr && ending->cause == EndCause::kResized && ending->within == 0) {
      growing.insert(ending->job);
    }
    if (ending != nullptr && ending->cause == EndCause::kPreemptedToRequeue) {
      ++result->preempted;
    }
    if (const auto* changed = std::get_if<PolicyChanged>(&entry.event); changed != nullptr) {
      const bool reservation = KindOf(changed->object) == PolicyKind::kReservation;
      ++(reservation ? result->reserved : result->changed);
    }
    if (const auto* again = std::get_if<JobRequeued>(&entry.event);
        again != nullptr && again->resized) {
      ++(growing.erase(again->job) > 0 ? result->grown : result->shrunk);
    }
  }
}

class Simulation {
 public:
  Simulation(const Scenario& scenario, std::uint64_t seed)
      : scenario_(scenario),
        seed_(seed),
        clock_(kBeginning),
        faults_(seed, scenario.faults),
        network_(clock_, faults_),
        controller_(
            ControllerContext{clock_, network_, faults_, oracle_, scenario.defect, scenario.whole,
                              seed,
                              [this](const std::string& node, bool on) { SwitchPower(node, on); }},
            PolicyFor(scenario, seed), scenario.urgent > 0 ? Preemption() : SitePolicyObjects()),
        clients_(
            clock_, faults_, oracle_,
            [this](const Command& command, ControllerLoop::Done done) {
              controller_.Take(command, std::move(done));
            },
            ClientPlan{scenario.submissions, scenario.active, scenario.nodes,
                       scenario.cores_per_node, scenario.gpus_per_node, scenario.elastic,
                       scenario.urgent, scenario.reservations, scenario.wishes, scenario.changes,
                       seed, scenario.whole}) {
    MUSTER_CHECK(scenario.nodes > 0 && scenario.cores_per_node > 0);
    RandomSequence random(seed);
    const Machine machine = PlainMachine(scenario.cores_per_node, scenario.gpus_per_node,
                                         "Simulated GPU", kGibibyte * 16);
    const auto draw = [&] {
      const std::uint32_t threads = 1 + Draw(random, 2);  // a core
      return DrawMachine(scenario.cores_per_node, threads, scenario.gpus_per_node, random);
    };
    const Machine drawn = draw();
    for (std::uint32_t i = 0; i < scenario.nodes; ++i) {
      const bool own = random.Below(3) == 0;  // most nodes are alike
      agents_.push_back(std::make_unique<SimulatedAgent>(
          AgentContext{clock_, network_, faults_, oracle_, scenario.defect, scenario.whole, seed},
          i, absl::StrCat("node", i + 1),
          !scenario.whole ? machine
          : own           ? draw()
                          : drawn));
    }
    network_.Attach(SimulatedNetwork::Handlers{
        [this](std::size_t, Session session, const ToController& message) {
          controller_.Receive(session, message);
        },
        [this](std::size_t agent, Session session, const ToAgent& message) {
          agents_[agent]->Receive(session, message);
        },
        [this](std::size_t agent, Session session) { agents_[agent]->NoticeLoss(session); },
        [this](std::size_t, Session session, Duration silent) {
          controller_.NoticeLoss(session, silent);
        }});
  }

  SimulationResult Run() {
    controller_.OnRestored([this] { LookAfter(clock_.now(), false); });
    controller_.Start();
    for (const auto& agent : agents_) {
      agent->Start();
    }
    clients_.Start();
    Expect(scenario_.faults.connection_lost_every, &Simulation::LoseConnection);
    Expect(scenario_.faults.agent_dies_every, &Simulation::KillAgent);
    Expect(scenario_.faults.controller_dies_every, &Simulation::KillController);
    clock_.After(scenario_.active, [this] {
      faults_.Stop();
      LetGoOnceFaultsAreOver();
    });
    while (!oracle_.broken().has_value() && !Settled()) {
      if (!clock_.RunNext() || clock_.now() > kBeginning + scenario_.active + kPatience) {
        oracle_.Broken(absl::StrCat("promise 5: not all is over: ", Describe()));
      }
    }
    controller_.CheckReplay();
    oracle_.CheckJournal(controller_.journal(), true);
    return Result();
  }

 private:
  // Lets `fault` happen every now and then until faults stop.
  void Expect(Duration mean, void (Simulation::*fault)()) {
    if (mean <= Duration(0)) {
      return;
    }
    clock_.After(faults_.Until(mean), [this, mean, fault] {
      if (!faults_.stopped()) {
        (this->*fault)();
        Expect(mean, fault);
      }
    });
  }

  void SwitchPower(const std::string& node, bool on) {
    for (const auto& agent : agents_) {
      if (agent->name() == node) {
        agent->SwitchPower(on);
      }
    }
  }

  void LoseConnection() {
    if (const Session session = network_.AnyOpen(faults_.Below(scenario_.nodes)); session != 0) {
      ++faults_.counts().connections_lost;
      network_.Cut(session);
    }
  }

  void KillAgent() {
    const FaultRates& rates = faults_.rates();
    AgentDeath how = AgentDeath::kProcess;
    if (faults_.Chance(rates.record_lost)) {
      how = AgentDeath::kRecordLost;
    } else if (faults_.Chance(rates.reboot)) {
      how = faults_.Below(2) == 0 ? AgentDeath::kPowerLost : AgentDeath::kReboot;
      if (how == AgentDeath::kReboot && faults_.Fault(rates.gpu_lost)) {
        how = AgentDeath::kGpuLost;
      }
    }
    agents_[faults_.Below(agents_.size())]->Die(how);
  }

  void KillController() { controller_.Die(); }

  // An operator's work after an old copy of the state was put in place: once every node is back,
  // and has said all, the nodes and the held jobs may go. What such a copy does not know may never
  // end by itself: its node is restarted after a while.
  void LookAfter(Time restored, bool were_back) {
    const bool back = controller_.alive() && AllConnected();
    if (back && were_back) {
      LetGo();
    }
    const bool patient = clock_.now() - restored <= kLookPatience;
    if (!patient) {
      RestartNodes();
      LetAllRun();
    }
    if (patient || !back || !HeldFor(HoldBy::kRestored).empty() || HasUnknown()) {
      clock_.After(kLookEvery, [this, back, since = patient ? restored : clock_.now()] {
        LookAfter(since, back);
      });
    }
  }

  // What faults sent back to the queue too often waits for an operator.
  void LetGoOnceFaultsAreOver() {
    Release(HoldBy::kMaxRequeue);
    clock_.After(kLookEvery, [this] { LetGoOnceFaultsAreOver(); });
  }

  // What is held, or drained, since such a copy was put in place.
  void LetGo() {
    for (const auto& agent : agents_) {
      controller_.Take(DrainNode{agent->name(), false, ""}, [](const core::Transition&) {});
    }
    Release(HoldBy::kRestored);
  }

  void Release(HoldBy by) {
    for (const JobId job : HeldFor(by)) {
      controller_.Take(HoldJob{job, std::nullopt, false, User{0, 0, "root"}},
                       [](const core::Transition&) {});
    }
  }

  [[nodiscard]] std::vector<JobId> HeldFor(HoldBy by) const {
    std::vector<JobId> held;
    for (const auto& [id, job] : controller_.state().jobs()) {
      if (job.held && job.held_by == by) {
        held.push_back(id);
      }
    }
    return held;
  }

  // Whoever held or suspended them may have let them go since the copy was made.
  void LetAllRun() {
    std::vector<JobId> jobs;
    for (const auto& [id, job] : controller_.state().jobs()) {
      jobs.push_back(id);
    }
    const User root{0, 0, "root"};
    for (const JobId job : jobs) {
      controller_.Take(SuspendJob{job, std::nullopt, false, root}, [](const core::Transition&) {});
      controller_.Take(HoldJob{job, std::nullopt, false, root}, [](const core::Transition&) {});
    }
  }

  [[nodiscard]] bool AllConnected() const {
    return std::all_of(agents_.begin(), agents_.end(), [this](const auto& agent) {
      const Node* node = controller_.state().FindNode(agent->name());
      return node != nullptr && node->connected;
    });
  }

  [[nodiscard]] bool HasUnknown() const {
    const auto& nodes = controller_.state().nodes();
    return std::any_of(nodes.begin(), nodes.end(),
                       [](const auto& node) { return !node.second.quarantined.empty(); });
  }

  // Those on which something runs that the state does not know.
  void RestartNodes() {
    for (const auto& agent : agents_) {
      const Node* node = controller_.state().FindNode(agent->name());
      if (node != nullptr && !node->quarantined.empty()) {
        agent->Die(AgentDeath::kReboot);
      }
    }
  }

  [[nodiscard]] bool Settled() const {
    if (!faults_.stopped() || clients_.unanswered() > 0 || !controller_.idle()) {
      return false;
    }
    for (const auto& agent : agents_) {
      const Node* node = controller_.state().FindNode(agent->name());
      const bool back = agent->idle() && node != nullptr && node->connected;
      if (!back && !agent->is_off()) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::string Describe() const {
    std::string text = absl::StrCat(clients_.unanswered(), " requests unanswered");
    for (const auto& [id, job] : controller_.state().jobs()) {
      absl::StrAppend(&text, "; job ", ToString(id), " ", Name(job.state), job.held ? " held" : "");
    }
    const SchedulerConfig config = PolicyFor(scenario_, seed_);
    const Plan plan =
        core::MakePlan(*core::BuildSnapshot(controller_.state(), clock_.now()), config);
    for (const LeftWaiting& left : plan.waiting) {
      absl::StrAppend(&text, "; ", ToString(left.job), " waits: ", Name(left.reason.kind), ": ",
                      ToSentence(left.reason));
    }
    for (const auto& agent : agents_) {
      absl::StrAppend(&text, "; ", agent->Describe());
    }
    for (const auto& [id, node] : controller_.state().nodes()) {
      absl::StrAppend(&text, node.connected ? "" : "; the controller misses ",
                      node.connected ? "" : node.name);
    }
    return text;
  }

  [[nodiscard]] SimulationResult Result() const {
    SimulationResult result;
    result.broken = oracle_.broken();
    result.history = Fingerprint().Add(controller_.journal()).value();
    result.events = controller_.journal().size();
    result.executions = oracle_.executions();
    result.queued_steps = oracle_.queued_steps();
    CountChanges(controller_.journal(), &result);
    result.refused = clients_.refused();
    result.took = clock_.now() - kBeginning;
    result.faults = faults_.counts();
    return result;
  }

  const Scenario& scenario_;
  const std::uint64_t seed_;
  VirtualClock clock_;
  Faults faults_;
  Oracle oracle_;
  SimulatedNetwork network_;
  SimulatedController controller_;
  Clients clients_;
  std::vector<std::unique_ptr<SimulatedAgent>> agents_;
};

}  // namespace

SimulationResult Simulate(const Scenario& scenario, std::uint64_t seed) {
  if (!scenario.drawn) {
    return Simulation(scenario, seed).Run();
  }
  Scenario own = scenario;
  own.faults = DrawRates(scenario.faults, seed);
  return Simulation(own, seed).Run();
}

}  // namespace muster::sim
