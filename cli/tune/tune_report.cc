#include "cli/tune/tune_report.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/frame/json_output.h"
#include "cli/page/table.h"
#include "cli/page/text.h"

namespace muster::cli {
namespace {

constexpr std::size_t kLosersShown = 10;

std::string Hours(double seconds) {
  return absl::StrFormat("%.2f", seconds / 3600);
}

std::string Interval(const sim::Difference& difference, double unit) {
  return difference.known
             ? absl::StrFormat("%+.2f (%+.2f to %+.2f)", difference.mean / unit,
                               difference.low / unit, difference.high / unit)
             : absl::StrFormat("%+.2f (too few days for an interval)", difference.mean / unit);
}

// The difference that the goal is about.
const sim::Difference& GoalDifference(const sim::OwnerDifference& owner, TuneGoal goal) {
  return goal == TuneGoal::kWait ? owner.wait : owner.slowdown;
}

// Users who surely wait longer, the most first.
std::vector<sim::OwnerDifference> Losers(const TuneOutcome& outcome) {
  std::vector<sim::OwnerDifference> losers;
  for (const sim::OwnerDifference& user : outcome.comparison.users) {
    if (user.wait.is_more() || user.slowdown.is_more()) {
      losers.push_back(user);
    }
  }
  std::stable_sort(losers.begin(), losers.end(), [](const auto& a, const auto& b) {
    return a.wait.mean * static_cast<double>(a.jobs) > b.wait.mean * static_cast<double>(b.jobs);
  });
  return losers;
}

void AddRow(const std::string& name, const TuneTried& tried, Table* table) {
  const TuneMeasures& measures = tried.trial.test;
  table->Add({{name},
              {absl::StrFormat("%.2f", measures.slowdown)},
              {Hours(measures.wait)},
              {Hours(static_cast<double>(measures.p99))},
              {Hours(static_cast<double>(measures.longest))},
              {absl::StrFormat("%.2f", measures.by_user)},
              {absl::StrFormat("%.1f", 100 * measures.utilisation)},
              {tried.allowed ? "" : "its longest wait is too long"}});
}

std::string LoserLines(const TuneWorkload& workload, const TuneOutcome& outcome) {
  const std::vector<sim::OwnerDifference> losers = Losers(outcome);
  if (losers.empty()) {
    return "  no user surely waits longer or has a larger slowdown\n";
  }
  std::string text = absl::StrCat("  ", losers.size(), " of ", outcome.comparison.users.size(),
                                  " users surely lose:\n");
  for (std::size_t i = 0; i < std::min(losers.size(), kLosersShown); ++i) {
    absl::StrAppend(&text, "    ", Printable(workload.names.users.NameOf(losers[i].owner)), ": ",
                    losers[i].jobs, " jobs, wait ", Interval(losers[i].wait, 3600), " h, slowdown ",
                    Interval(losers[i].slowdown, 1), "\n");
  }
  return text;
}

Json TriedJson(const TuneTried& tried) {
  return {{"settings", TextOf(tried.settings)},
          {"toml", TomlOf(tried.settings)},
          {"allowed", tried.allowed},
          {"trial", ToJson(tried.trial)}};
}

Json DifferenceJson(const sim::Difference& difference) {
  return {{"mean", difference.mean},
          {"low", difference.known ? Json(difference.low) : Json(nullptr)},
          {"high", difference.known ? Json(difference.high) : Json(nullptr)}};
}

}  // namespace

bool IsWorthIt(const TuneOutcome& outcome, TuneGoal goal) {
  if (KeyOf(outcome.found.best.settings) == KeyOf(outcome.found.current.settings)) {
    return false;
  }
  const TuneMeasures& now = outcome.found.current.trial.test;
  const TuneMeasures& then = outcome.found.best.trial.test;
  const bool has_interval = goal == TuneGoal::kSlowdown || goal == TuneGoal::kWait;
  return CostOf(goal, then) < CostOf(goal, now) &&
         (!has_interval || GoalDifference(outcome.comparison.overall, goal).is_less());
}

std::string PrintTune(const TuneWorkload& workload, const TuneOptions& options,
                      const TuneOutcome& outcome, const Style& style) {
  const TuneFound& found = outcome.found;
  std::string page = absl::StrCat(
      Printable(workload.name), ": ", workload.jobs, " jobs on ", workload.processors,
      " processors; chosen by ", found.best.trial.train.jobs, " jobs of the first part, judged by ",
      found.best.trial.test.jobs, " of the rest; ", found.trials, " simulations, goal ",
      Name(options.goal), "\n\n");
  Table table({{.title = "after the split"},
               {.title = "slowdown", .right = true},
               {.title = "wait h", .right = true},
               {.title = "p99 h", .right = true},
               {.title = "longest h", .right = true},
               {.title = "by user", .right = true},
               {.title = "load %", .right = true},
               {.title = ""}});
  AddRow("now: " + TextOf(found.current.settings), found.current, &table);
  AddRow("best: " + TextOf(found.best.settings), found.best, &table);
  for (const TuneTried& tried : found.policies) {
    AddRow(tried.settings.name, tried, &table);
  }
  page += table.Print(style);
  const sim::OwnerDifference& overall = outcome.comparison.overall;
  absl::StrAppend(&page, "\nbest - now: wait ", Interval(overall.wait, 3600), " h, slowdown ",
                  Interval(overall.slowdown, 1), "; 95 % intervals of a bootstrap\n");
  if (!IsWorthIt(outcome, options.goal)) {
    return page + "Nothing that was tried surely beats what is there.\n";
  }
  page += LoserLines(workload, outcome);
  return absl::StrCat(page, "\n", TomlOf(found.best.settings));
}

std::string TuneDocument(const TuneWorkload& workload, const TuneOptions& options,
                         const TuneOutcome& outcome) {
  Json policies = Json::array();
  for (const TuneTried& tried : outcome.found.policies) {
    policies.push_back(TriedJson(tried));
  }
  Json losers = Json::array();
  for (const sim::OwnerDifference& user : Losers(outcome)) {
    losers.push_back({{"user", workload.names.users.NameOf(user.owner)},
                      {"jobs", user.jobs},
                      {"wait", DifferenceJson(user.wait)},
                      {"slowdown", DifferenceJson(user.slowdown)}});
  }
  return PrintJson({{"trace", workload.name},
                    {"goal", Name(options.goal)},
                    {"processors", workload.processors},
                    {"jobs", workload.jobs},
                    {"simulations", outcome.found.trials},
                    {"worth_it", IsWorthIt(outcome, options.goal)},
                    {"current", TriedJson(outcome.found.current)},
                    {"best", TriedJson(outcome.found.best)},
                    {"policies", std::move(policies)},
                    {"wait", DifferenceJson(outcome.comparison.overall.wait)},
                    {"slowdown", DifferenceJson(outcome.comparison.overall.slowdown)},
                    {"losers", std::move(losers)}});
}

std::string TuneFile(const TuneWorkload& workload, const TuneOptions& options,
                     const TuneOutcome& outcome) {
  const sim::OwnerDifference& overall = outcome.comparison.overall;
  return absl::StrCat("# Found by muster tune on ", Printable(workload.name), ", goal ",
                      Name(options.goal), ". Against what was there, on the last ",
                      outcome.found.best.trial.test.jobs, " jobs:\n# slowdown ",
                      Interval(overall.slowdown, 1), ", wait ", Interval(overall.wait, 3600),
                      " h.\n", TomlOf(outcome.found.best.settings));
}

}  // namespace muster::cli
