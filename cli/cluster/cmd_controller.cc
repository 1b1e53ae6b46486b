#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/controller_status.h"
#include "cli/frame/json_output.h"
#include "cli/frame/verbs.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::chrono::milliseconds kStatusEvery{50};
constexpr std::chrono::seconds kTakesOverWithin{15};

struct Asked {
  Address address;
  absl::StatusOr<ControllerStatus> status;
};

std::vector<Asked> AskAll(const Address& address) {
  std::vector<Asked> asked;
  for (const Address& each : AllOf(address)) {
    asked.push_back({each, ReadControllerStatus(each)});
  }
  return asked;
}

const Asked* LeaderOf(const std::vector<Asked>& asked) {
  for (const Asked& one : asked) {
    if (one.status.ok() && one.status->leads) {
      return &one;
    }
  }
  return nullptr;
}

Json DocumentOf(const std::vector<Asked>& asked) {
  Json controllers = Json::array();
  for (const Asked& one : asked) {
    Json row = {{"address", one.address.text}, {"answers", one.status.ok()}};
    if (one.status.ok()) {
      row["name"] = one.status->name;
      row["leads"] = one.status->leads;
      row["leader"] = one.status->leader;
      row["leader_addresses"] = one.status->leader_addresses;
      row["epoch"] = one.status->epoch;
      row["version"] = one.status->version;
      row["age_ms"] = one.status->age.count();
    } else {
      row["error"] = std::string(one.status.status().message());
    }
    controllers.push_back(std::move(row));
  }
  return {{"controllers", std::move(controllers)}};
}

std::string LineOf(const Asked& one) {
  if (!one.status.ok()) {
    return absl::StrCat(one.address.text, ": ", std::string(one.status.status().message()), "\n");
  }
  const ControllerStatus& status = *one.status;
  const std::string who = absl::StrCat(one.address.text, ": ", status.name);
  if (status.leads) {
    return absl::StrCat(who, " leads, epoch ", status.epoch, "\n");
  }
  const std::string leader =
      status.leader.empty() ? "no controller leads"
                            : absl::StrCat(status.leader, " leads at ", status.leader_addresses);
  return absl::StrCat(who, " is a standby, ", status.age.count(), " ms behind; ", leader, "\n");
}

absl::StatusOr<int> ShowStatus(const Invocation& invocation, const Address& address) {
  const std::vector<Asked> asked = AskAll(address);
  if (invocation.Has("json")) {
    std::cout << DocumentOf(asked).dump(2) << "\n";
    return 0;
  }
  for (const Asked& one : asked) {
    std::fputs(LineOf(one).c_str(), stdout);
  }
  return LeaderOf(asked) == nullptr ? 1 : 0;
}

// The controller other than `before` that leads, as it says itself: one that took the lead may
// still find that it cannot. Of one that was not asked, what the others say. "": none.
std::string SuccessorIn(const std::vector<Asked>& asked, const std::string& before) {
  if (const Asked* const leader = LeaderOf(asked)) {
    return leader->status->name == before ? "" : leader->status->name;
  }
  for (const Asked& one : asked) {
    std::string holder = one.status.ok() ? one.status->leader : "";
    const bool was_asked = std::any_of(asked.begin(), asked.end(), [&holder](const Asked& other) {
      return other.status.ok() && other.status->name == holder;
    });
    if (!holder.empty() && holder != before && !was_asked) {
      return holder;
    }
  }
  return "";
}

// Waits until another leads.
absl::StatusOr<int> DoHandOver(const Address& address, const std::string& to) {
  const std::vector<Asked> before = AskAll(address);
  const Asked* const leader = LeaderOf(before);
  if (leader == nullptr) {
    return absl::UnavailableError(
        absl::StrCat(address.text, ": no controller there leads: name all of them"));
  }
  RETURN_IF_ERROR(HandOver(leader->address, to));
  const auto give_up = std::chrono::steady_clock::now() + kTakesOverWithin;
  while (std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(kStatusEvery);
    const std::vector<Asked> all = AskAll(address);
    if (const std::string next = SuccessorIn(all, leader->status->name); !next.empty()) {
      std::printf("%s leads\n", next.c_str());
      return 0;
    }
    const Asked* const now = LeaderOf(all);
    if (now != nullptr && now->status->name == leader->status->name &&
        now->status->epoch != leader->status->epoch) {
      return absl::UnavailableError(absl::StrCat(
          now->status->name,
          " leads again: ", to.empty() ? "no standby took over" : to + " did not take over"));
    }
  }
  return absl::UnavailableError("no controller took over; see muster controller status");
}

absl::StatusOr<int> RunController(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  const std::string& action = invocation.arguments.front();
  if (action == "status" && invocation.arguments.size() == 1) {
    return ShowStatus(invocation, address);
  }
  if (action == "handover") {
    return DoHandOver(address,
                      invocation.arguments.size() > 1 ? invocation.arguments[1] : std::string());
  }
  return absl::InvalidArgumentError(
      absl::StrCat(action, ": expected status, or handover [NAME]; see muster controller --help"));
}

}  // namespace

Verb ControllerVerb() {
  Verb verb;
  verb.name = "controller";
  verb.purpose = "Show which of a cluster's controllers leads, or have it hand over";
  verb.synopsis = "status|handover [NAME]";
  verb.forms = {"status [--json]", "handover [NAME]"};
  verb.examples = {"muster controller status --controller a:7117,b:7117",
                   "muster controller handover b"};
  verb.remarks =
      "Controllers that share a PostgreSQL store are one cluster's: one leads, the others follow\n"
      "and take over. status exits 1 when none of those that were named leads.";
  verb.options = {JsonOption()};
  verb.arguments_min = 1;
  verb.arguments_max = 2;
  verb.run = RunController;
  return verb;
}

}  // namespace muster::cli
