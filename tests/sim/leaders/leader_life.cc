#include "tests/sim/leaders/leader_life.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/state/state_hash.h"
#include "scheduler/model/value/fingerprint.h"
#include "scheduler/simulator/cluster/cluster_simulation.h"
#include "scheduler/simulator/crash/agents.h"
#include "scheduler/simulator/crash/clients.h"
#include "tests/sim/leaders/member.h"

namespace muster::sim {
namespace {

constexpr Time kBeginning{Duration(1'767'225'600'000)};  // 2026-01-01 00:00 UTC
constexpr Duration kPatience = std::chrono::hours(1);
constexpr std::uint32_t kNodes = 2;
constexpr std::uint32_t kCores = 2;
constexpr std::uint32_t kSubmissions = 6;
constexpr Duration kActive{45'000};
constexpr Duration kSkew{90'000};  // between two controllers' clocks, at most
constexpr Duration kBriefMin{300};
constexpr Duration kBriefMax{12'000};
constexpr Duration kLongMax{40'000};
constexpr Duration kJumpMax{20'000};
constexpr Duration kStepMax{400};  // of the database's clock when its standby takes over
constexpr Duration kLookEvery{500};

FaultRates RatesOf() {
  FaultRates rates;
  rates.reply_lost = 100;
  rates.report_duplicated = 50;
  rates.report_late = 200;
  rates.connection_lost_every = Duration(20'000);
  return rates;
}

class LeaderLife {
 public:
  LeaderLife(std::uint64_t seed, LeadDefect defect)
      : clock_(kBeginning),
        faults_(seed, RatesOf()),
        controllers_(2 + faults_.Below(2)),
        judge_(oracle_),
        network_(clock_, faults_, controllers_),
        database_(clock_, faults_, judge_, controllers_, defect),
        cut_from_clients_(controllers_),
        clients_(
            clock_, faults_, oracle_,
            [this](const Command& command, ControllerLoop::Done done) {
              Bring(command, std::move(done), controllers_);
            },
            ClientPlan{kSubmissions, kActive, kNodes, kCores, 0}) {
    oracle_.AllowSkew(kSkew);
    const Machine machine = PlainMachine(kCores, 0, "", kGibibyte * 16);
    for (std::uint32_t i = 0; i < kNodes; ++i) {
      agents_.push_back(
          std::make_unique<SimulatedAgent>(AgentContext{clock_, network_, faults_, oracle_}, i,
                                           absl::StrCat("node", i + 1), machine));
    }
    for (std::size_t i = 0; i < controllers_; ++i) {
      members_.push_back(std::make_unique<Member>(
          ControllerContext{clock_, network_, faults_, oracle_}, i, database_, judge_, defect));
    }
    network_.Attach(SimulatedNetwork::Handlers{
        [this](std::size_t controller, Session session, const ToController& message) {
          members_[controller]->Hear(session, message);
        },
        [this](std::size_t agent, Session session, const ToAgent& message) {
          agents_[agent]->Receive(session, message);
        },
        [this](std::size_t agent, Session session) { agents_[agent]->NoticeLoss(session); },
        [this](std::size_t controller, Session session, Duration silent) {
          members_[controller]->HearLoss(session, silent);
        }});
  }

  LeaderLifeResult Run() {
    for (const auto& member : members_) {
      member->Start();
    }
    for (const auto& agent : agents_) {
      agent->Start();
    }
    clients_.Start();
    ExpectFaults();
    Look();
    clock_.After(kActive, [this] { faults_.Stop(); });
    while (!oracle_.broken().has_value() && !Settled()) {
      if (!clock_.RunNext() || clock_.now() > kBeginning + kActive + kPatience) {
        oracle_.Broken(absl::StrCat("promise 5: not all is over: ", Describe()));
      }
    }
    CheckAll();
    return Result();
  }

 private:
  void ExpectFaults() {
    for (const auto fault :
         {&LeaderLife::Kill, &LeaderLife::StopAndWake, &LeaderLife::CutFromDatabase,
          &LeaderLife::CutFromAgents, &LeaderLife::CutFromClients, &LeaderLife::Stall,
          &LeaderLife::StallSync, &LeaderLife::Restart, &LeaderLife::FailOver,
          &LeaderLife::JumpClock, &LeaderLife::HandOver, &LeaderLife::EditRow,
          &LeaderLife::LoseAnswer}) {
      if (faults_.Chance(500)) {
        Expect(faults_.Between(Duration(5'000), Duration(40'000)), fault);
      }
    }
    Expect(faults_.rates().connection_lost_every, &LeaderLife::LoseConnection);
  }

  // Lets `fault` happen every now and then until faults stop.
  void Expect(Duration mean, void (LeaderLife::*fault)()) {
    clock_.After(faults_.Until(mean), [this, mean, fault] {
      if (!faults_.stopped()) {
        (this->*fault)();
        Expect(mean, fault);
      }
    });
  }

  // Mostly the one that leads.
  std::size_t Victim() {
    for (std::size_t i = 0; i < controllers_; ++i) {
      if (members_[i]->leads() && faults_.Chance(800)) {
        return i;
      }
    }
    return faults_.Below(controllers_);
  }
  Duration While() {
    return faults_.Chance(300) ? faults_.Between(kBriefMin, kLongMax)
                               : faults_.Between(kBriefMin, kBriefMax);
  }

  void LoseConnection() {
    if (const Session session = network_.AnyOpen(faults_.Below(kNodes)); session != 0) {
      network_.Cut(session);
    }
  }
  void Kill() {
    ++counts_.killed;
    members_[Victim()]->Die();
  }
  void StopAndWake() {
    ++counts_.stopped;
    const std::size_t victim = Victim();
    members_[victim]->Stop();
    clock_.After(While(), [this, victim] { members_[victim]->Wake(); });
  }
  void CutFromDatabase() {
    ++counts_.cut_from_database;
    const std::size_t victim = Victim();
    database_.CutOff(victim, true);
    clock_.After(While(), [this, victim] { database_.CutOff(victim, false); });
  }
  void CutFromAgents() {
    ++counts_.cut_from_agents;
    const std::size_t victim = Victim();
    network_.CutOff(victim, true);
    clock_.After(While(), [this, victim] { network_.CutOff(victim, false); });
  }
  void CutFromClients() {
    ++counts_.cut_from_clients;
    const std::size_t victim = Victim();
    cut_from_clients_[victim] = true;
    clock_.After(While(), [this, victim] { cut_from_clients_[victim] = false; });
  }
  void Stall() {
    ++counts_.stalls;
    database_.Stall(While());
  }
  void StallSync() {
    ++counts_.sync_stalls;
    database_.StallSync(While());
  }
  void Restart() {
    ++counts_.restarts;
    database_.Restart(faults_.Between(kBriefMin, kBriefMax));
  }
  void FailOver() {
    ++counts_.failovers;
    database_.FailOver(faults_.Between(kBriefMin, kBriefMax), faults_.Between(-kStepMax, kStepMax));
  }
  void JumpClock() {
    ++counts_.clock_jumps;
    members_[Victim()]->JumpClock(faults_.Between(-kJumpMax, kJumpMax));
  }
  void HandOver() {
    ++counts_.handovers;
    const std::size_t victim = Victim();
    const std::size_t to = faults_.Below(controllers_);
    members_[victim]->HandOver(to == victim ? "" : members_[to]->name());
  }
  void EditRow() {
    ++counts_.edits;
    database_.EditRow(faults_.Below(4));
  }
  void LoseAnswer() {
    ++counts_.lost_answers;
    database_.LoseAnswer(Victim());
  }

  // To the controller that answered last; to the next one when it refuses.
  void Bring(const Command& command, ControllerLoop::Done done, std::size_t tries) {
    const std::size_t to = asked_;
    const auto next = [this, to] { asked_ = asked_ == to ? (to + 1) % controllers_ : asked_; };
    if (tries == 0) {
      return;
    }
    if (cut_from_clients_[to] || !members_[to]->alive() || members_[to]->stopped()) {
      next();
      if (!members_[to]->stopped()) {
        Bring(command, std::move(done), tries - 1);
        return;
      }
    }
    const auto heard = [this, to, done](const core::Transition& transition) {
      if (!cut_from_clients_[to]) {
        done(transition);
      }
    };
    members_[to]->Bring(command, heard, [this, command, done, tries, next] {
      next();
      clock_.After(faults_.MessageDelay(),
                   [this, command, done, tries] { Bring(command, done, tries - 1); });
    });
  }

  // Judges who believes to lead.
  void Look() {
    for (std::size_t i = 0; i < controllers_; ++i) {
      const Member& member = *members_[i];
      if (member.alive() && !member.stopped() && member.leads()) {
        judge_.LeadsUnconfirmed(
            i, clock_.now() - std::max(database_.confirmed(i), member.leads_since()));
      }
    }
    clock_.After(kLookEvery, [this] { Look(); });
  }

  [[nodiscard]] const Member* Leader() const {
    const Member* leader = nullptr;
    for (const auto& member : members_) {
      if (member->leads()) {
        if (leader != nullptr) {
          return nullptr;
        }
        leader = member.get();
      }
    }
    return leader;
  }

  [[nodiscard]] bool Settled() const {
    if (!faults_.stopped() || clients_.unanswered() > 0) {
      return false;
    }
    const Member* leader = Leader();
    if (leader == nullptr || !leader->state().jobs().empty()) {
      return false;
    }
    const auto at_end = [this](const auto& member) {
      return member->settled() && member->state().version() == database_.version();
    };
    return std::all_of(members_.begin(), members_.end(), at_end) &&
           std::all_of(agents_.begin(), agents_.end(), [leader](const auto& agent) {
             const Node* node = leader->state().FindNode(agent->name());
             return agent->idle() && node != nullptr && node->connected;
           });
  }

  [[nodiscard]] std::string Describe() const {
    std::string text =
        absl::StrCat(clients_.unanswered(), " requests unanswered; the journal is at ",
                     ToString(database_.version()));
    for (const auto& member : members_) {
      absl::StrAppend(&text, "; ", member->name(), " at ", ToString(member->state().version()),
                      member->leads() ? " leads" : "", member->settled() ? "" : " is busy");
      for (const auto& [id, job] : member->state().jobs()) {
        absl::StrAppend(&text, ", job ", ToString(id), " ", Name(job.state));
      }
      for (const auto& [id, node] : member->state().nodes()) {
        absl::StrAppend(&text, node.connected ? "" : ", misses ", node.connected ? "" : node.name);
      }
    }
    for (const auto& agent : agents_) {
      absl::StrAppend(&text, "; ", agent->Describe());
    }
    return text;
  }

  void CheckAll() {
    if (oracle_.broken().has_value()) {
      return;  // what follows from it may be anything
    }
    const std::optional<std::uint64_t> replayed = CheckReplay(database_.kept(), oracle_);
    for (const auto& member : members_) {
      if (replayed.has_value() && core::HashOf(member->state()) != *replayed) {
        oracle_.Broken(absl::StrCat("promise 6: ", member->name(),
                                    " ends with another state than a replay of the journal"));
      }
    }
    oracle_.CheckJournal(database_.kept().entries, true);
    judge_.CheckEnds(database_.kept().entries);
  }

  [[nodiscard]] LeaderLifeResult Result() const {
    LeaderLifeResult result;
    result.broken = oracle_.broken();
    result.history = Fingerprint().Add(database_.kept().entries).value();
    result.events = database_.kept().entries.size();
    result.executions = oracle_.executions();
    for (const JournalEntry& entry : database_.kept().entries) {
      result.epochs += std::holds_alternative<EpochBegan>(entry.event) ? 1 : 0;
    }
    result.took = clock_.now() - kBeginning;
    result.faults = counts_;
    return result;
  }

  VirtualClock clock_;
  Faults faults_;
  const std::size_t controllers_;
  Oracle oracle_;
  LeadJudge judge_;
  SimulatedNetwork network_;
  SharedDatabase database_;
  std::vector<bool> cut_from_clients_;
  std::size_t asked_ = 0;  // the controller that clients ask first
  Clients clients_;
  std::vector<std::unique_ptr<SimulatedAgent>> agents_;
  std::vector<std::unique_ptr<Member>> members_;
  LeaderFaultCounts counts_;
};

}  // namespace

LeaderLifeResult SimulateLeaders(std::uint64_t seed, LeadDefect defect) {
  return LeaderLife(seed, defect).Run();
}

}  // namespace muster::sim
