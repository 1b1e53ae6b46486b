#include "scheduler/simulator/crash/operators.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/simulator/workload/draws.h"
#include "scheduler/simulator/workload/rare_changes.h"

namespace muster::sim {
namespace {

constexpr const char* kSwitches[] = {"top", "row0", "row1", "leaf0", "leaf1", "leaf2", "nowhere"};
constexpr std::uint32_t kReservations = 6;

User Root() {
  return User{0, 0, "root"};
}

}  // namespace

std::string Operators::DrawNode() {
  return Chance(random_, 30) ? "nowhere" : absl::StrCat("node", 1 + Draw(random_, plan_.nodes));
}

// A node that was forgotten comes back under another number.
NodeId Operators::DrawNodeId() {
  return NodeId(1 + Draw(random_, plan_.nodes + 2));
}

void Operators::Start() {
  for (std::uint32_t number = 0; number < plan_.acts; ++number) {
    const auto when =
        static_cast<Duration::rep>(random_.Below(static_cast<std::uint64_t>(plan_.active.count())));
    requests_.Later(Duration(when), [this] { requests_.Send(DrawAct()); });
  }
}

Command Operators::DrawAct() {
  switch (random_.Below(10)) {
    case 0:
      return DrawDrain();
    case 1:
      return DrawLink();
    case 2:
      return CheckNodeHealth{DrawNode(),
                             Chance(random_, 500) ? HealthKind::kQuick : HealthKind::kBurnIn,
                             Chance(random_, 500)};
    case 3:
      return DrawReboot();
    case 4:
      return DrawAlerts();
    case 5:
      return DrawNews();
    case 6:
    case 8:
      return DrawReservation();
    case 7:
      return DrawPower();
    default:
      return DrawRareChange(plan_.nodes, random_);
  }
}

Command Operators::DrawDrain() {
  DrainNode drain;
  drain.name = DrawNode();
  drain.drained = Chance(random_, 600);
  drain.reason = Chance(random_, 50) ? "" : "to see what happens";
  drain.narrow = Chance(random_, 200);
  drain.by = Root();
  const Time now = clock_.now();
  if (Chance(random_, 400)) {
    drain.until = now + std::chrono::seconds(Draw(random_, 120)) - std::chrono::seconds(5);
  }
  if (Chance(random_, 400)) {
    drain.deadline = now + std::chrono::seconds(Draw(random_, 60)) - std::chrono::seconds(2);
  }
  return drain;
}

Command Operators::DrawLink() {
  DrainNode drain;
  drain.name = kSwitches[Draw(random_, std::size(kSwitches))];
  drain.link_to = kSwitches[Draw(random_, std::size(kSwitches))];
  drain.drained = Chance(random_, 700);
  drain.reason = Chance(random_, 50) ? "" : absl::StrCat("slow since ", Draw(random_, 2));
  drain.until = Chance(random_, 30) ? clock_.now() : kNoTime;
  drain.by = Root();
  return drain;
}

Command Operators::DrawReboot() {
  if (Chance(random_, 200)) {
    return ForgetNode{DrawNode()};
  }
  RebootNode reboot;
  reboot.name = DrawNode();
  reboot.reason = Chance(random_, 500) ? "a new kernel" : "";
  reboot.drain = Chance(random_, 500);
  reboot.keep_drained = Chance(random_, 200);
  reboot.cancel = Chance(random_, 200);
  return reboot;
}

Command Operators::DrawAlerts() {
  SettleAlerts alerts;
  for (const char* rule : {"NodeSilent", "JobHangs"}) {
    if (Chance(random_, 500)) {
      alerts.open.push_back(
          Alert{rule, "warning", DrawNode(), "", JobId(), "", "", "it is so", clock_.now()});
    }
  }
  return alerts;
}

// What a node's own watchers, or its stream, say.
Command Operators::DrawNews() {
  switch (random_.Below(3)) {
    case 0:
      return TakeNodeFault{DrawNodeId(), Chance(random_, 100) ? "" : "GPU 0 fell off the bus"};
    case 1:
      return FailLaunch{JobId(1 + Draw(random_, 60)), AttemptNumber(1 + Draw(random_, 2)),
                        "the order is lost"};
    default: {
      TakeGpuOccupants news{DrawNodeId(), {}};
      for (std::uint32_t i = 0; i < Draw(random_, 3); ++i) {
        news.occupants.push_back(
            GpuOccupant{Draw(random_, 4), 4711 + i, "eve", "python", kGibibyte});
      }
      return news;
    }
  }
}

// Of nodes by name or number, for users, accounts or maintenance, once, each day or each week.
Command Operators::DrawReservation() {
  const std::string name = absl::StrCat("reserved-", 1 + Draw(random_, kReservations));
  if (Chance(random_, 150)) {
    return ChangePolicy{PolicyVerb::kDelete, PolicyKind::kReservation, name, {}, Root()};
  }
  const Time start =
      clock_.now() + std::chrono::seconds(Draw(random_, 60)) - std::chrono::seconds(10);
  std::vector<Assignment> said = {{"StartTime", MomentText(start)},
                                  {"Duration", absl::StrCat(1 + Draw(random_, 2))}};
  switch (random_.Below(4)) {
    case 0:
      said.push_back({"Nodes", absl::StrCat("node", 1 + Draw(random_, plan_.nodes))});
      break;
    case 1:
      said.push_back({"Nodes", "ALL"});
      break;
    default:
      said.push_back({"NodeCnt", absl::StrCat(1 + Draw(random_, plan_.nodes))});
  }
  std::string flags;
  for (const char* flag : {"MAINT", "FLEX", "IGNORE_JOBS", "DAILY", "WEEKLY"}) {
    if (Chance(random_, 250)) {
      absl::StrAppend(&flags, flags.empty() ? "" : ",", flag);
    }
  }
  said.push_back({"Flags", flags});
  if (Chance(random_, 600)) {
    said.push_back({"Users", Chance(random_, 500) ? "ada" : "ada,bob"});
  }
  if (Chance(random_, 300)) {
    said.push_back({"Accounts", Chance(random_, 500) ? "physics" : "optics,chemistry"});
  }
  const PolicyVerb verb = Chance(random_, 300) ? PolicyVerb::kSet : PolicyVerb::kAdd;
  return ChangePolicy{verb, PolicyKind::kReservation, name, std::move(said), Root()};
}

// What somebody found a while ago, which is judged again.
Command Operators::DrawPower() {
  SwitchNodes orders;
  orders.suspend = {DrawNodeId()};
  if (Chance(random_, 500)) {
    orders.resume = {DrawNodeId()};
  }
  return orders;
}

void Operators::LiftAll() {
  for (std::uint32_t i = 1; i <= plan_.nodes; ++i) {
    DrainNode resume;
    resume.name = absl::StrCat("node", i);
    resume.drained = false;
    resume.by = Root();
    requests_.Send(resume);
  }
  for (const char* a : kSwitches) {
    for (const char* b : kSwitches) {
      if (std::string(a) < b) {
        requests_.Send(
            DrainNode{a, false, "it is mended", kNoTime, kNoTime, false, b, Actor(Root())});
      }
    }
  }
  for (std::uint32_t id = 1; id <= 4 * plan_.nodes; ++id) {
    requests_.Send(TakeGpuOccupants{NodeId(id), {}});
  }
  for (std::uint32_t number = 1; number <= kReservations; ++number) {
    requests_.Send(ChangePolicy{PolicyVerb::kDelete,
                                PolicyKind::kReservation,
                                absl::StrCat("reserved-", number),
                                {},
                                Root()});
  }
  requests_.Send(SettleAlerts{});
  for (ChangePolicy& change : LiftRareChanges(plan_.nodes)) {
    requests_.Send(std::move(change));
  }
}

}  // namespace muster::sim
