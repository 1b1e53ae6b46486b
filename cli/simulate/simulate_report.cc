#include "cli/simulate/simulate_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/frame/json_output.h"
#include "cli/page/table.h"
#include "scheduler/base/text/words.h"
#include "scheduler/simulator/flat/policy_names.h"

namespace muster::cli {
namespace {

constexpr std::size_t kUsersShown = 10;

std::string DroppedText(const sim::DroppedRecords& dropped) {
  std::string text;
  const auto add = [&text](std::uint64_t count, const char* what) {
    if (count != 0) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", count, " ", what);
    }
  };
  add(dropped.no_run_time, "without run time");
  add(dropped.no_processors, "without processors");
  add(dropped.too_large, "larger than the machine");
  add(dropped.no_requested_time, "without requested time");
  add(dropped.before_zero, "submitted before 0");
  return text.empty() ? "none" : text;
}

std::string SkippedText(const sim::SkippedRecords& skipped) {
  return absl::StrCat(skipped.lines, " broken, ", skipped.duplicates, " with an id seen before",
                      skipped.truncated ? ", and the file ends in the middle" : "",
                      skipped.first.empty() ? "" : "; the first: ", skipped.first);
}

std::string AuditText(const sim::AuditReport& audit) {
  return audit.violations == 0
             ? absl::StrCat(
                   "legal: ", audit.jobs, " jobs, ", audit.promises, " promised starts kept, ",
                   audit.restarts == 0 ? "" : absl::StrCat(audit.restarts, " earlier attempts, "),
                   "at most ", audit.most_in_use, " processors in use")
             : absl::StrCat("ILLEGAL: ", audit.violations, " violations; the first: ", audit.first);
}

std::string CheckText(const sim::CheckReport& check) {
  std::string text = absl::StrCat(check.compared, " jobs compared, ", check.different,
                                  " start at another moment, ", check.only_here, " only here, ",
                                  check.only_there, " only there");
  for (const std::string& example : check.examples) {
    absl::StrAppend(&text, "\n          ", example);
  }
  return text;
}

std::string ValueText(const sim::Metric& metric) {
  return metric.whole ? absl::StrFormat("%.0f", metric.value)
                      : absl::StrFormat("%.4f", metric.value);
}

Json Dropped(const sim::DroppedRecords& dropped) {
  return {{"no_run_time", dropped.no_run_time}, {"no_processors", dropped.no_processors},
          {"too_large", dropped.too_large},     {"no_requested_time", dropped.no_requested_time},
          {"before_zero", dropped.before_zero}, {"total", dropped.total()}};
}

Json Skipped(const sim::SkippedRecords& skipped) {
  return {{"broken", skipped.lines},
          {"duplicates", skipped.duplicates},
          {"truncated", skipped.truncated},
          {"first", skipped.first}};
}

Json Users(const SimulateOutcome& outcome) {
  Json users = Json::array();
  for (const sim::UserMetrics& user : outcome.users) {
    users.push_back({{"user", outcome.result.names.users.NameOf(user.user)},
                     {"jobs", user.jobs},
                     {"work", user.work},
                     {"mean_waiting_time", user.mean_waiting_time()},
                     {"max_waiting_time", user.longest},
                     {"mean_bounded_slowdown", user.mean_slowdown()}});
  }
  return users;
}

// Those who waited most, at most kUsersShown.
std::string UserTable(const SimulateOutcome& outcome, const Style& style) {
  std::vector<sim::UserMetrics> users = outcome.users;
  std::stable_sort(users.begin(), users.end(),
                   [](const sim::UserMetrics& a, const sim::UserMetrics& b) {
                     return a.waiting_time > b.waiting_time;
                   });
  Table table({{.title = "USER"},
               {.title = "JOBS", .right = true},
               {.title = "PROCESSOR HOURS", .right = true},
               {.title = "MEAN WAIT", .right = true},
               {.title = "MAX WAIT", .right = true},
               {.title = "MEAN SLOWDOWN", .right = true}});
  for (std::size_t i = 0; i < std::min(users.size(), kUsersShown); ++i) {
    const sim::UserMetrics& user = users[i];
    table.Add({{outcome.result.names.users.NameOf(user.user)},
               {absl::StrCat(user.jobs)},
               {absl::StrFormat("%.1f", user.work / 3600)},
               {absl::StrFormat("%.1f s", user.mean_waiting_time())},
               {absl::StrFormat("%d s", user.longest)},
               {absl::StrFormat("%.2f", user.mean_slowdown())}});
  }
  const std::string more =
      users.size() > kUsersShown
          ? absl::StrCat("and ", users.size() - kUsersShown, " more users: see --json\n")
          : "";
  return absl::StrCat("\n", table.Print(style), more);
}

std::uint32_t NodesOf(const sim::ClusterRun& run) {
  std::uint32_t nodes = 0;
  for (const sim::NodeClass& alike : run.nodes) {
    nodes += alike.count;
  }
  return nodes;
}

// The share of the GPUs' time, from the first submission to the last end, that jobs held.
double GpuUtilisation(const SimulateOutcome& outcome) {
  const sim::ClusterResult& cluster = *outcome.cluster;
  const auto makespan = std::find_if(
      outcome.metrics.begin(), outcome.metrics.end(),
      [](const sim::Metric& metric) { return std::string(metric.name) == "makespan"; });
  const double time = makespan == outcome.metrics.end() ? 0 : makespan->value;
  return cluster.gpus == 0 || time <= 0 ? 0
                                        : static_cast<double>(cluster.gpu_seconds) /
                                              (static_cast<double>(cluster.gpus) * time);
}

std::string ClusterText(const SimulateOptions& options, const SimulateOutcome& outcome) {
  const sim::ClusterResult& cluster = *outcome.cluster;
  const SchedulerConfig& config = options.cluster->config;
  std::string text = absl::StrCat(
      "cluster   ", NodesOf(*options.cluster), " nodes, ", cluster.schedule.processors,
      " hardware threads, ", cluster.gpus, " GPUs",
      cluster.gpus == 0 ? ""
                        : absl::StrFormat(", %.4f of their time held", GpuUtilisation(outcome)),
      "\npolicy    ", options.policy, ": the code that schedules live, backfilling ",
      Name(config.backfill), "; estimates ", Name(options.run.estimates), "\ncycles    ",
      cluster.cycles, "\n");
  if (cluster.refused > 0) {
    absl::StrAppend(&text, "refused   ", cluster.refused, ", the first: ", cluster.first_refusal,
                    "\n");
  }
  if (cluster.preemptions > 0) {
    absl::StrAppend(&text, "preempted ", cluster.preemptions, " times, ", cluster.lost_seconds,
                    " s of runs lost\n");
  }
  return text;
}

Json ClusterJson(const SimulateOptions& options, const SimulateOutcome& outcome) {
  const sim::ClusterResult& cluster = *outcome.cluster;
  return {{"order", Name(options.cluster->config.priority.order)},
          {"backfill", Name(options.cluster->config.backfill)},
          {"nodes", NodesOf(*options.cluster)},
          {"gpus", cluster.gpus},
          {"gpu_utilisation", GpuUtilisation(outcome)},
          {"cycles", cluster.cycles},
          {"refused", cluster.refused},
          {"first_refusal", cluster.first_refusal},
          {"preemptions", cluster.preemptions},
          {"lost_seconds", cluster.lost_seconds},
          {"seed", options.cluster->seed},
          {"state_hash", HashText(cluster.state_hash)}};
}

}  // namespace

std::vector<sim::Metric> ClusterMetrics(const sim::ClusterResult& cluster) {
  std::vector<sim::Metric> metrics = sim::RoomMetrics(cluster.threads, cluster.free_gpus);
  if (cluster.faults) {
    const std::vector<sim::Metric> of_failures = cluster.failures.Metrics();
    metrics.insert(metrics.end(), of_failures.begin(), of_failures.end());
  }
  if (cluster.energy.has_value()) {
    const std::vector<sim::Metric> of_energy = cluster.energy->Metrics();
    metrics.insert(metrics.end(), of_energy.begin(), of_energy.end());
  }
  return metrics;
}

std::string PartialSentence(const sim::FlatResult& result) {
  return absl::StrCat("PARTIAL: stopped at ", result.now, " s of the trace, when ", result.ended,
                      " of the ", result.jobs, " jobs that had arrived had ended");
}

std::string PrintSimulation(const SimulateOptions& options, const SimulateOutcome& outcome,
                            const Style& style) {
  const sim::FlatResult& result = outcome.result;
  std::string page;
  if (!result.complete) {
    absl::StrAppend(&page, PartialSentence(result), "\n");
  }
  absl::StrAppend(&page, "trace     ", options.trace, ": ", result.records, " records, ",
                  result.jobs, " jobs\n", "dropped   ", DroppedText(result.dropped), "\n");
  if (options.run.lenient) {
    absl::StrAppend(&page, "skipped   ", SkippedText(result.skipped), "\n");
  }
  if (outcome.cluster.has_value()) {
    absl::StrAppend(&page, ClusterText(options, outcome));
  } else {
    absl::StrAppend(&page, "machine   ", result.processors, " identical processors\n", "policy    ",
                    options.policy, ": order ", Name(options.run.policy.order), ", backfilling ",
                    Name(options.run.policy.backfill), ", candidates ",
                    Name(options.run.policy.candidates), "; estimates ",
                    Name(options.run.estimates), ", instant ", Name(options.run.instant),
                    ", filter ", Name(options.run.filter), "\n");
  }
  absl::StrAppend(&page, "queue     ", result.longest_queue, " jobs at its longest\n");
  if (outcome.audit.has_value()) {
    absl::StrAppend(&page, "audit     ", AuditText(*outcome.audit), "\n");
  }
  if (outcome.check.has_value()) {
    absl::StrAppend(&page, "check     ", CheckText(*outcome.check), "\n");
  }
  Table table({{.title = "METRIC"},
               {.title = "VALUE", .right = true},
               {.title = ""},
               {.title = "DEFINITION", .least = 20}});
  for (const sim::Metric& metric : outcome.metrics) {
    table.Add({{metric.name}, {ValueText(metric)}, {metric.unit}, {metric.definition}});
  }
  if (outcome.metrics.empty()) {
    return page;
  }
  absl::StrAppend(&page, "\n", table.Print(style));
  return outcome.users.size() < 2 ? page : page + UserTable(outcome, style);
}

std::string SimulationDocument(const SimulateOptions& options, const SimulateOutcome& outcome) {
  const sim::FlatResult& result = outcome.result;
  Json document = {{"trace", options.trace},
                   {"policy", options.policy},
                   {"order", Name(options.run.policy.order)},
                   {"backfill", Name(options.run.policy.backfill)},
                   {"backfill_order", Name(options.run.policy.candidates)},
                   {"estimates", Name(options.run.estimates)},
                   {"instant", Name(options.run.instant)},
                   {"filter", Name(options.run.filter)},
                   {"processors", result.processors},
                   {"complete", result.complete},
                   {"stopped_at", result.complete ? Json(nullptr) : Json(result.now)},
                   {"records", result.records},
                   {"jobs", result.jobs},
                   {"ended", result.ended},
                   {"dropped", Dropped(result.dropped)},
                   {"skipped", Skipped(result.skipped)},
                   {"longest_queue", result.longest_queue}};
  if (outcome.cluster.has_value()) {
    document.update(ClusterJson(options, outcome));
  }
  Json definitions = Json::object();
  for (const sim::Metric& metric : outcome.metrics) {
    document[metric.name] =
        metric.whole ? Json(static_cast<std::int64_t>(metric.value)) : Json(metric.value);
    definitions[metric.name] = absl::StrCat(metric.definition, *metric.unit == 0 ? "" : " (",
                                            metric.unit, *metric.unit == 0 ? "" : ")");
  }
  document["definitions"] = definitions;
  document["by_user"] = Users(outcome);
  if (outcome.audit.has_value()) {
    const sim::AuditReport& audit = *outcome.audit;
    document["audit"] = {{"legal", audit.violations == 0},  {"jobs", audit.jobs},
                         {"promises", audit.promises},      {"restarts", audit.restarts},
                         {"violations", audit.violations},  {"first", audit.first},
                         {"most_in_use", audit.most_in_use}};
  }
  if (outcome.check.has_value()) {
    const sim::CheckReport& check = *outcome.check;
    document["check"] = {{"same", check.same()},           {"compared", check.compared},
                         {"different", check.different},   {"only_here", check.only_here},
                         {"only_there", check.only_there}, {"examples", ToJson(check.examples)}};
  }
  return PrintJson(document);
}

}  // namespace muster::cli
