#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <thread>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/links/link_check.h"
#include "cli/sheet/health_table.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

constexpr std::chrono::milliseconds kLookEvery{200};
constexpr std::uint32_t kHistoryShown = 10;
constexpr std::uint32_t kHistoryMost = 1000;

double Unit(std::uint64_t thousandths) {
  return static_cast<double>(thousandths) / 1000;
}

Json VerdictJson(const HealthVerdict& verdict) {
  const HealthFigure& figure = verdict.figure;
  const bool compared = verdict.samples > 0;
  return {{"component", figure.component},
          {"unit", figure.unit},
          {"value", Unit(figure.value)},
          {"roof", figure.roof > 0 ? Json(Unit(figure.roof)) : Json(nullptr)},
          {"class_median", compared ? Json(Unit(verdict.median)) : Json(nullptr)},
          {"scaled_mad", compared ? Json(Unit(verdict.spread)) : Json(nullptr)},
          {"samples", verdict.samples},
          {"verdict", Name(verdict.status)}};
}

Json RecordJson(const HealthRecord& record) {
  Json verdicts = Json::array();
  for (const HealthVerdict& verdict : record.verdicts) {
    verdicts.push_back(VerdictJson(verdict));
  }
  return {{"number", record.number},          {"kind", Name(record.kind)},
          {"cause", Name(record.cause)},      {"outcome", Name(record.outcome)},
          {"verdict", Name(record.status)},   {"time", ToJson(record.time)},
          {"took", ToJson(record.took)},      {"text", record.text},
          {"components", std::move(verdicts)}};
}

Json NodeJson(const HealthView& node) {
  Json history = Json::array();
  for (const HealthRecord& record : node.history) {
    history.push_back(RecordJson(record));
  }
  const bool checked = node.health.last.number > 0;
  return {{"node", node.node},
          {"health", node.state},
          {"drained_by_health", node.health.drained},
          {"checking", node.health.running},
          {"class_nodes", node.class_nodes},
          {"slow_in_a_row", node.health.slow},
          {"node_failures", static_cast<double>(node.tally.failures) / 1e6},
          {"job_seconds", ToJson(node.tally.exposure)},
          {"sick_probability", Unit(node.sick_permille)},
          {"last", checked ? RecordJson(node.health.last) : Json(nullptr)},
          {"history", std::move(history)}};
}

// The check of this number in the node's history, once it ended.
const HealthRecord* EndedCheck(const HealthView& node, std::uint64_t number) {
  const auto found =
      std::find_if(node.history.begin(), node.history.end(),
                   [number](const HealthRecord& record) { return record.number >= number; });
  return found == node.history.end() ? nullptr : &*found;
}

// What is waited for, node by node.
struct Ordered {
  std::map<std::string, std::uint64_t> numbers;
  bool refused = false;
};

absl::StatusOr<Ordered> OrderAll(Connection& connection, const std::vector<std::string>& names,
                                 HealthKind kind, bool wait) {
  Ordered ordered;
  for (const std::string& name : names) {
    const absl::StatusOr<std::uint64_t> number = connection.Call(CheckNodeHealth{name, kind, wait});
    if (number.ok()) {
      ordered.numbers[name] = *number;
    } else if (names.size() == 1) {
      return number.status();
    } else {
      std::cerr << "muster health: " << number.status().message() << "\n";
      ordered.refused = true;
    }
  }
  return ordered;
}

// Waits for the checks; one that had to yield to a job is asked for again where `wait` says so, by
// the controller.
absl::StatusOr<std::vector<HealthView>> AwaitAll(Connection& connection, Ordered ordered,
                                                 bool wait) {
  std::vector<std::string> names;
  for (const auto& [name, number] : ordered.numbers) {
    names.push_back(name);
  }
  while (!names.empty()) {
    ASSIGN_OR_RETURN(std::vector<HealthView> nodes, connection.Call(ListHealth{names, 1}));
    const bool all = std::all_of(nodes.begin(), nodes.end(), [&](const HealthView& node) {
      std::uint64_t& number = ordered.numbers[node.node];
      const HealthRecord* record = EndedCheck(node, number);
      if (record != nullptr && wait && record->outcome == HealthOutcome::kYielded) {
        number = record->number + 1;
        return false;
      }
      return record != nullptr;
    });
    if (all) {
      return nodes;
    }
    std::this_thread::sleep_for(kLookEvery);
  }
  return std::vector<HealthView>();
}

// 1 when a check found something, or had no result.
int CodeOf(const std::vector<HealthView>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(),
                     [](const HealthView& node) {
                       const HealthRecord& record = node.history.front();
                       return record.outcome == HealthOutcome::kMeasured &&
                              record.status <= HealthStatus::kGood;
                     })
             ? 0
             : 1;
}

absl::Status Show(const Invocation& invocation, const std::vector<HealthView>& nodes) {
  if (invocation.Has("json")) {
    Json list = Json::array();
    for (const HealthView& node : nodes) {
      list.push_back(NodeJson(node));
    }
    return WriteOut(PrintJson(Json{{"nodes", std::move(list)}}));
  }
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  const Time now = SystemClock().Now();
  if (invocation.arguments.empty()) {
    return WriteOut(PrintHealthTable(nodes, now, style));
  }
  std::string pages;
  for (const HealthView& node : nodes) {
    absl::StrAppend(&pages, pages.empty() ? "" : "\n", PrintHealthPage(node, now, style));
  }
  return WriteOut(pages);
}

absl::StatusOr<int> Check(const Invocation& invocation, Connection& connection, HealthKind kind) {
  std::vector<std::string> names = invocation.arguments;
  if (names.empty()) {
    ASSIGN_OR_RETURN(const std::vector<HealthView> all, connection.Call(ListHealth{{}, 0}));
    for (const HealthView& node : all) {
      names.push_back(node.node);
    }
  }
  const bool wait = invocation.Has("wait");
  ASSIGN_OR_RETURN(const Ordered ordered, OrderAll(connection, names, kind, wait));
  ASSIGN_OR_RETURN(const std::vector<HealthView> nodes, AwaitAll(connection, ordered, wait));
  RETURN_IF_ERROR(Show(invocation, nodes));
  return ordered.refused ? 1 : CodeOf(nodes);
}

absl::StatusOr<int> Health(const Invocation& invocation) {
  const bool quick = invocation.Has("quick");
  const bool burn_in = invocation.Has("burn-in");
  const bool links = invocation.Has("links");
  if (quick + burn_in + links > 1) {
    return absl::InvalidArgumentError("--quick, --burn-in and --links: choose one");
  }
  for (const char* option : {"rounds", "least", "drain", "narrow"}) {
    if (!links && invocation.Has(option)) {
      return absl::InvalidArgumentError(absl::StrCat("--", option, " belongs to --links"));
    }
  }
  if (invocation.Has("drain") && invocation.Has("narrow")) {
    return absl::InvalidArgumentError("--drain and --narrow: choose one");
  }
  if (links && (invocation.Has("wait") || invocation.Has("history"))) {
    return absl::InvalidArgumentError(
        "--links measures idle nodes, now: leave --wait and --history out");
  }
  if (invocation.Has("wait") && !quick && !burn_in) {
    return absl::InvalidArgumentError("--wait: say what to wait for: --quick or --burn-in");
  }
  std::uint64_t history = invocation.arguments.empty() ? 0 : kHistoryShown;
  if (invocation.Has("history")) {
    ASSIGN_OR_RETURN(history, ParseDigits(invocation.Value("history"), kHistoryMost));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  if (links) {
    return CheckLinks(invocation, *connection);
  }
  if (quick || burn_in) {
    return Check(invocation, *connection, burn_in ? HealthKind::kBurnIn : HealthKind::kQuick);
  }
  ASSIGN_OR_RETURN(
      const std::vector<HealthView> nodes,
      connection->Call(ListHealth{invocation.arguments, static_cast<std::uint32_t>(history)}));
  RETURN_IF_ERROR(Show(invocation, nodes));
  return 0;
}

}  // namespace

Verb HealthVerb() {
  Verb verb;
  verb.name = "health";
  verb.purpose = "Show what nodes are worth beside their class, or check them now";
  verb.synopsis = "[NODE…]";
  verb.examples = {"muster health",
                   "muster health node2",
                   "muster health node2 --quick --wait",
                   "muster health --links",
                   "muster health --links n1 n2 n3 n4 --least 90 --json",
                   "muster submit --every 1d --wrap 'muster health --links --narrow'"};
  verb.remarks =
      "With --quick or --burn-in the exit code is 0 when nothing was found, 1 when something was, "
      "or when a job started first. --links takes each pair of idle nodes as a job of two ranks "
      "of\n"
      "the kernel pingpong; the code is 1 when a link is slow beside others of its class, or has "
      "no\n"
      "result.\n";
  verb.options = {
      {.name = "quick",
       .letter = 0,
       .metavar = "",
       .text =
           "Check the nodes (all, when none is named) now, in some seconds, and print the result"},
      {.name = "burn-in",
       .letter = 0,
       .metavar = "",
       .text = "The same for five minutes, with the nodes hot"},
      {.name = "wait",
       .letter = 0,
       .metavar = "",
       .text = "Check once no job is on the node, and again when a job interrupts it, instead of "
               "refusing"},
      {.name = "history",
       .letter = 0,
       .metavar = "N",
       .text = "Show the newest N checks (default: 10 of a named node)"}};
  for (const Option& option : LinkOptions()) {
    verb.options.push_back(option);
  }
  verb.options.push_back(JsonOption());
  verb.arguments_max = kAnyNumber;
  verb.run = Health;
  return verb;
}

}  // namespace muster::cli
