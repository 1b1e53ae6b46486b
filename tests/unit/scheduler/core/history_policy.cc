// What administrators do in a history.
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/time_text.h"
#include "tests/unit/scheduler/core/history.h"

namespace muster::core::testing {
namespace {

// What is said of an object, unless it is deleted.
std::vector<Assignment> Unless(bool deletes, std::vector<Assignment> said) {
  if (deletes) {
    said.clear();
  }
  return said;
}

}  // namespace

// An administrator sets a limit, takes one away, or shuts some nodes for a while.
void History::ChangeSomePolicy() {
  if (Chance(10)) {
    config_.priority.half_life = std::chrono::hours(Number(1, 300));
    Take(ConfigurePolicy{{}, User{0, 0, "root"}, "muster.toml"});
    return;
  }
  const User root{0, 0, "root"};
  const std::string count = absl::StrCat(Number(0, 8));
  const std::vector<Assignment> limits = {{"GrpTRES", "cpu=" + count},
                                          {"GrpJobs", Chance(60) ? "-1" : count},
                                          {"MaxJobs", Chance(60) ? "-1" : count},
                                          {"GrpTRESMins", Chance(60) ? "" : "cpu=" + count + "00"},
                                          {"MaxTRESPerJob", Chance(80) ? "" : "cpu=4"}};
  const Assignment& limit = limits[Number(0, static_cast<std::uint32_t>(limits.size()) - 1)];
  const PolicyVerb verb = Chance(15)   ? PolicyVerb::kDelete
                          : Chance(50) ? PolicyVerb::kSet
                                       : PolicyVerb::kAdd;
  const bool deletes = verb == PolicyVerb::kDelete;
  const std::vector<Assignment> said = Unless(deletes, {limit});
  constexpr std::array<const char*, 4> modes = {"CANCEL", "REQUEUE", "SUSPEND", "SUSPEND"};
  switch (Number(0, 5)) {
    case 0:
      Take(ChangePolicy{verb, PolicyKind::kQos, "normal", said, root});
      break;
    case 4:
      Take(ChangePolicy{
          verb, PolicyKind::kQos, "low",
          Unless(deletes, {{"PreemptMode", modes[Number(0, 3)]}, {"Priority", count}}), root});
      break;
    case 5:
      Take(ChangePolicy{verb, PolicyKind::kQos, "high", Unless(deletes, {{"Preempt", "low"}}),
                        root});
      break;
    case 1:
      Take(ChangePolicy{verb, PolicyKind::kAccount, "physics", said, root});
      break;
    case 2: {
      std::vector<Assignment> below = said;
      if (!deletes) {
        below.push_back({"Parent", Chance(70) ? "physics" : "root"});
      }
      Take(ChangePolicy{verb, PolicyKind::kAccount, "theory", below, root});
      break;
    }
    default: {
      const auto moment = [this](std::uint32_t minutes) {
        return MomentText(now_ + std::chrono::minutes(minutes));
      };
      Take(ChangePolicy{verb, PolicyKind::kReservation, "shut",
                        Unless(deletes, {{"StartTime", moment(Number(0, 5))},
                                         {"Duration", "10"},
                                         {"Nodes", "n[1-2]"},
                                         {"Flags", "MAINT,IGNORE_JOBS"}}),
                        root});
    }
  }
}

// Nothing of the policy keeps a job from starting any more.
void History::LiftPolicy() {
  const User root{0, 0, "root"};
  if (!state_.policy().site().accounts.empty()) {
    // Jobs may name accounts that nobody had to know when they were submitted.
    Take(ChangePolicy{PolicyVerb::kAdd, PolicyKind::kAccount, "physics", {}, root});
    Take(ChangePolicy{PolicyVerb::kAdd, PolicyKind::kAccount, "theory", {}, root});
  }
  for (const PolicyObject& object : ObjectsOf(state_.policy().site())) {
    if (KindOf(object) == PolicyKind::kReservation) {
      Take(ChangePolicy{PolicyVerb::kDelete, KindOf(object), NameOf(object), {}, root});
      continue;
    }
    const std::vector<Assignment> nothing = {{"GrpTRES", ""},
                                             {"GrpJobs", ""},
                                             {"MaxJobs", ""},
                                             {"GrpTRESMins", ""},
                                             {"MaxTRESPerJob", ""}};
    Take(ChangePolicy{PolicyVerb::kSet, KindOf(object), NameOf(object), nothing, root});
  }
}

}  // namespace muster::core::testing
