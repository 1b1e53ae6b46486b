#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/page/table.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/settings/alerts/alert_judge.h"
#include "scheduler/settings/alerts/alert_rules.h"

namespace muster::cli {
namespace {

Json RuleJson(const AlertRule& rule, const AlertSettings& settings, const std::vector<Alert>& all) {
  const auto setting = settings.find(rule.name);
  Json found = Json::array();
  for (const Alert& alert : all) {
    if (alert.rule == rule.name) {
      found.push_back({{"subject", alert.subject}, {"text", alert.text}});
    }
  }
  return {{"rule", rule.name},
          {"severity", setting == settings.end() ? "none" : setting->second.severity},
          {"for", setting == settings.end() ? Json(nullptr) : ToJson(setting->second.hold)},
          {"finds", std::move(found)}};
}

std::string RuleTable(const AlertSettings& settings, const std::vector<Alert>& all,
                      const Style& style) {
  Table table({{"RULE"}, {"SEVERITY"}, {"FOR"}, {"FINDS NOW"}});
  for (const AlertRule& rule : kAlertRules) {
    const auto setting = settings.find(rule.name);
    const bool on = setting != settings.end();
    std::string first;
    std::size_t count = 0;
    for (const Alert& alert : all) {
      if (alert.rule == rule.name && ++count == 1) {
        first = alert.text;
      }
    }
    table.Add({{rule.name},
               {on ? setting->second.severity : "none"},
               {on ? ElapsedText(setting->second.hold) : "-"},
               {count == 0   ? on ? absl::StrCat("nothing: ", rule.text) : "off"
                : count == 1 ? first
                             : absl::StrCat(first, ", and ", count - 1, " more")}});
  }
  return table.Print(style);
}

std::string OpenTable(const std::vector<Alert>& open, Time now, const Style& style) {
  if (open.empty()) {
    return "nothing needs attention\n";
  }
  Table table({{"SEVERITY"}, {"RULE"}, {"SUBJECT"}, {"FOR"}, {"TEXT"}});
  for (const Alert& alert : open) {
    table.Add({{alert.severity},
               {alert.rule},
               {alert.subject},
               {ElapsedText(now - alert.since)},
               {alert.text}});
  }
  return table.Print(style);
}

absl::StatusOr<int> ListOpen(const Invocation& invocation, Connection& connection) {
  if (invocation.Has("config")) {
    return absl::InvalidArgumentError(
        "--config: only muster alerts test reads rules; the controller's say what is open");
  }
  ASSIGN_OR_RETURN(const std::vector<Alert> open, connection.Call(ListAlerts{}));
  if (!invocation.Has("json")) {
    RETURN_IF_ERROR(WriteOut(
        OpenTable(open, SystemClock().Now(), StyleFor(invocation.environment, STDOUT_FILENO))));
    return 0;
  }
  Json alerts = Json::array();
  for (const Alert& alert : open) {
    alerts.push_back(ToJson(alert));
  }
  RETURN_IF_ERROR(WriteOut(PrintJson({{"alerts", std::move(alerts)}})));
  return 0;
}

// What the rules find, however short that has been so.
absl::StatusOr<std::vector<Alert>> FindNow(Connection& connection, AlertSettings settings) {
  ASSIGN_OR_RETURN(const ClusterStatus status, connection.Call(Ping{}));
  ASSIGN_OR_RETURN(const NodeList nodes, connection.Call(ListNodes{}));
  ListJobs filter;
  filter.fold = true;
  ASSIGN_OR_RETURN(const std::vector<JobView> jobs, connection.Call(filter));
  for (auto& [name, setting] : settings) {
    setting.hold = Duration(0);
  }
  AlertJudge judge(std::move(settings));
  const Time now = SystemClock().Now();
  judge.Look(nodes.nodes, jobs, status.warnings, now);
  return judge.Open(now);
}

absl::StatusOr<int> Test(const Invocation& invocation, Connection& connection,
                         const AlertSettings& settings) {
  ASSIGN_OR_RETURN(const std::vector<Alert> found, FindNow(connection, settings));
  if (!invocation.Has("json")) {
    RETURN_IF_ERROR(
        WriteOut(RuleTable(settings, found, StyleFor(invocation.environment, STDOUT_FILENO))));
    return 0;
  }
  Json rules = Json::array();
  for (const AlertRule& rule : kAlertRules) {
    rules.push_back(RuleJson(rule, settings, found));
  }
  RETURN_IF_ERROR(WriteOut(PrintJson({{"rules", std::move(rules)}})));
  return 0;
}

absl::StatusOr<int> Alerts(const Invocation& invocation) {
  const bool test = !invocation.arguments.empty();
  if (test && invocation.arguments.front() != "test") {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(invocation.arguments.front()),
                     " is not an alerts command: use test, or nothing to see what is open"));
  }
  AlertSettings settings = DefaultAlertSettings();
  if (test && invocation.Has("config")) {
    ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Load(invocation.Value("config")));
    RETURN_IF_ERROR(ReadAlertSettings(file, &settings));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  return test ? Test(invocation, *connection, settings) : ListOpen(invocation, *connection);
}

}  // namespace

Verb AlertsVerb() {
  Verb verb;
  verb.name = "alerts";
  verb.purpose = "List what needs attention, or say what the rules of alerts find";
  verb.synopsis = "[test]";
  verb.examples = {"muster alerts", "muster alerts test --config /etc/muster/musterd.toml"};
  verb.remarks =
      "What a rule finds is an alert once it has been so for as long as the rule says. It is an\n"
      "event when it begins and ends, and muster-notifier sends it to an Alertmanager.\n";
  verb.options = {{.name = "config",
                   .letter = 0,
                   .metavar = "FILE",
                   .text = "With test: the controller's settings, TOML; without it the defaults"},
                  JsonOption()};
  verb.arguments_max = 1;
  verb.run = Alerts;
  return verb;
}

}  // namespace muster::cli
