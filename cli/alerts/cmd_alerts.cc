#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "cli/alerts/alert_rules.h"
#include "cli/alerts/alert_table.h"
#include "cli/controller/controller.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/page/table.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"

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

absl::StatusOr<int> Alerts(const Invocation& invocation) {
  if (invocation.arguments.front() != "test") {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(invocation.arguments.front()), " is not an alerts command: use test"));
  }
  AlertSettings settings = DefaultAlertSettings();
  if (invocation.Has("config")) {
    ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Load(invocation.Value("config")));
    RETURN_IF_ERROR(ReadAlertSettings(file, &settings));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const ClusterStatus status, connection->Call(Ping{}));
  ASSIGN_OR_RETURN(const NodeList nodes, connection->Call(ListNodes{}));
  ListJobs filter;
  filter.fold = true;
  ASSIGN_OR_RETURN(const std::vector<JobView> jobs, connection->Call(filter));
  AlertSettings at_once = settings;
  for (auto& [name, setting] : at_once) {
    setting.hold = Duration(0);
  }
  AlertTable table(at_once);
  const Time now = SystemClock().Now();
  table.Look(nodes.nodes, jobs, status.warnings, now);
  const std::vector<Alert> found = table.Take(now);
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

}  // namespace

Verb AlertsVerb() {
  Verb verb;
  verb.name = "alerts";
  verb.purpose = "Read the rules of alerts, and say what they find now";
  verb.synopsis = "test";
  verb.examples = {"muster alerts test", "muster alerts test --config /etc/muster/notifier.toml"};
  verb.remarks =
      "What a rule finds fires once it has been so for as long as the rule says; muster-notifier\n"
      "sends it to an Alertmanager.\n";
  verb.options = {{.name = "config",
                   .letter = 0,
                   .metavar = "FILE",
                   .text = "The notifier's settings, TOML; without it the defaults"},
                  JsonOption()};
  verb.arguments_min = 1;
  verb.arguments_max = 1;
  verb.run = Alerts;
  return verb;
}

}  // namespace muster::cli
