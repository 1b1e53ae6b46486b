#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/each_node.h"
#include "cli/frame/verbs.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::size_t kRebootWordMax = 500;
constexpr std::chrono::milliseconds kLookAgainAfter{500};

absl::StatusOr<RebootNode> ReadReboot(const Invocation& invocation) {
  RebootNode order;
  const std::string when = invocation.Has("when") ? invocation.Value("when") : "drained";
  if (when != "drained" && when != "idle") {
    return absl::InvalidArgumentError("--when: drained, so that nothing new starts there, or idle");
  }
  order.reason = invocation.Value("reason");
  if (const absl::Status fits = CheckText(order.reason, kRebootWordMax); !fits.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--reason: ", std::string(fits.message())));
  }
  order.drain = when == "drained";
  order.keep_drained = invocation.Has("keep-drained");
  order.cancel = invocation.Has("cancel");
  if (order.cancel && (invocation.Has("when") || invocation.Has("wait") || order.keep_drained)) {
    return absl::InvalidArgumentError("--cancel: goes with no other option");
  }
  return order;
}

// Waits until each of the reboots is done or given up, and says which were given up.
absl::StatusOr<int> AwaitAll(Connection& connection, std::map<std::string, std::uint64_t> numbers) {
  int code = 0;
  while (!numbers.empty()) {
    std::vector<std::string> names;
    names.reserve(numbers.size());
    for (const auto& [name, number] : numbers) {
      names.push_back(name);
    }
    ASSIGN_OR_RETURN(const std::vector<HealthView> nodes, connection.Call(ListHealth{names, 2}));
    for (const HealthView& node : nodes) {
      const auto record =
          std::find_if(node.history.begin(), node.history.end(), [&](const HealthRecord& each) {
            return each.kind == HealthKind::kReboot && each.number >= numbers[node.node] &&
                   each.outcome != HealthOutcome::kYielded;
          });
      if (record == node.history.end()) {
        continue;
      }
      if (record->outcome != HealthOutcome::kRebooted) {
        std::cerr << "muster reboot: " << node.node << ": " << record->text << std::endl;
        code = 1;
      }
      numbers.erase(node.node);
    }
    if (!numbers.empty()) {
      std::this_thread::sleep_for(kLookAgainAfter);
    }
  }
  return code;
}

absl::StatusOr<int> Reboot(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NodesIn(invocation.arguments));
  ASSIGN_OR_RETURN(RebootNode order, ReadReboot(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  std::map<std::string, std::uint64_t> numbers;
  ASSIGN_OR_RETURN(const int code, ForEachNode("reboot", names, [&](const std::string& name) {
                     order.name = name;
                     ASSIGN_OR_RETURN(numbers[name], connection->Call(order));
                     return absl::OkStatus();
                   }));
  if (invocation.Has("wait")) {
    ASSIGN_OR_RETURN(const int waited, AwaitAll(*connection, std::move(numbers)));
    return std::max(code, waited);
  }
  return code;
}

}  // namespace

Verb RebootVerb() {
  Verb verb;
  verb.name = "reboot";
  verb.purpose = "Start nodes again, each once no job is on it";
  verb.synopsis = "NODE… [--when drained|idle]";
  verb.examples = {"muster reboot 'node[1-8]' --reason 'new kernel'",
                   "muster reboot node2 --when idle", "muster reboot node2 --cancel"};
  verb.options = {
      {.name = "when",
       .letter = 0,
       .metavar = "WHEN",
       .text = "drained: nothing new starts there until then (the default); idle: once it happens "
               "to be idle"},
      {.name = "reason", .letter = 0, .metavar = "TEXT", .text = "Why; muster nodes shows it"},
      {.name = "keep-drained",
       .letter = 0,
       .metavar = "",
       .text = "Leave them drained afterwards, until muster resume"},
      {.name = "wait",
       .letter = 0,
       .metavar = "",
       .text = "Return once they are back; 1 when one did not come"},
      {.name = "cancel",
       .letter = 0,
       .metavar = "",
       .text = "Take back what was asked before, where it has not begun"}};
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.run = Reboot;
  return verb;
}

}  // namespace muster::cli
