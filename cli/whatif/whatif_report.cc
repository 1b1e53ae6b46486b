#include "cli/whatif/whatif_report.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/frame/json_output.h"
#include "cli/page/table.h"
#include "scheduler/simulator/report/comparison_html.h"

namespace muster::cli {
namespace {

constexpr std::size_t kOwnersShown = 10;

const char* Verdict(const sim::Difference& difference) {
  return difference.is_less() ? "gains" : difference.is_more() ? "loses" : "unclear";
}

std::string IntervalText(const sim::Difference& difference) {
  return difference.known ? absl::StrFormat("%+.1f .. %+.1f", difference.low, difference.high)
                          : "too few";
}

Json IntervalJson(const sim::Difference& difference) {
  return {{"mean", difference.mean},
          {"low", difference.known ? Json(difference.low) : Json(nullptr)},
          {"high", difference.known ? Json(difference.high) : Json(nullptr)}};
}

Json OwnerJson(const sim::OwnerDifference& owner) {
  return {{"jobs", owner.jobs},
          {"base_mean_waiting_time", owner.base_wait},
          {"mean_waiting_time", owner.variant_wait},
          {"waiting_time_difference", IntervalJson(owner.wait)},
          {"bounded_slowdown_difference", IntervalJson(owner.slowdown)},
          {"verdict", Verdict(owner.wait)}};
}

// `what` is the key of the name: user, account.
Json OwnersJson(const std::vector<sim::OwnerDifference>& owners, const char* what,
                const sim::NameTable& names) {
  Json list = Json::array();
  for (const sim::OwnerDifference& owner : owners) {
    Json entry = {{what, names.NameOf(owner.owner)}};
    entry.update(OwnerJson(owner));
    list.push_back(entry);
  }
  return list;
}

Json VariantJson(const WhatifVariant& variant) {
  Json json = {{"change", variant.change},
               {"processors", variant.result.processors},
               {"jobs", variant.result.ended},
               {"dropped", variant.result.dropped.total()}};
  Json metrics = Json::object();
  for (const sim::Metric& metric : variant.metrics) {
    metrics[metric.name] = metric.value;
  }
  json["metrics"] = metrics;
  if (variant.change.empty()) {
    return json;
  }
  const sim::Comparison& comparison = variant.comparison;
  json["compared"] = comparison.jobs;
  json["only_in_one"] = comparison.only_one;
  json["block_s"] = comparison.block;
  json["blocks"] = comparison.blocks;
  json["overall"] = OwnerJson(comparison.overall);
  json["by_account"] = OwnersJson(comparison.accounts, "account", variant.result.names.groups);
  json["by_user"] = OwnersJson(comparison.users, "user", variant.result.names.users);
  return json;
}

// Metric by metric, a column for each variant.
std::string MetricTable(const WhatifOutcome& outcome, const Style& style) {
  std::vector<Column> columns = {{.title = "METRIC"}};
  for (const WhatifVariant& variant : outcome.variants) {
    columns.push_back({.title = variant.change.empty() ? "BASE" : variant.change, .right = true});
  }
  columns.push_back({.title = ""});
  Table table(columns);
  for (std::size_t i = 0; i < outcome.variants.front().metrics.size(); ++i) {
    const sim::Metric& metric = outcome.variants.front().metrics[i];
    std::vector<Cell> row = {{metric.name}};
    for (const WhatifVariant& variant : outcome.variants) {
      row.push_back({i < variant.metrics.size()
                         ? absl::StrFormat("%.*f", metric.whole ? 0 : 4, variant.metrics[i].value)
                         : "-"});
    }
    row.push_back({metric.unit});
    table.Add(row);
  }
  return table.Print(style);
}

std::string CountText(const std::vector<sim::OwnerDifference>& owners) {
  std::size_t gain = 0;
  std::size_t lose = 0;
  for (const sim::OwnerDifference& owner : owners) {
    gain += owner.wait.is_less() ? 1 : 0;
    lose += owner.wait.is_more() ? 1 : 0;
  }
  return absl::StrCat(gain, " gain, ", lose, " lose, ", owners.size() - gain - lose, " unclear");
}

// Those whose waits change most in all, gains and losses alike. `what`: "USER", and "users".
std::string OwnerTable(std::vector<sim::OwnerDifference> owners, const sim::NameTable& names,
                       const char* what, const char* plural, const Style& style) {
  const auto weight = [](const sim::OwnerDifference& owner) {
    return std::abs(owner.wait.mean) * static_cast<double>(owner.jobs);
  };
  std::stable_sort(owners.begin(), owners.end(),
                   [&weight](const sim::OwnerDifference& a, const sim::OwnerDifference& b) {
                     return weight(a) > weight(b);
                   });
  Table table({{.title = what},
               {.title = "JOBS", .right = true},
               {.title = "MEAN WAIT", .right = true},
               {.title = "WAS", .right = true},
               {.title = "DIFFERENCE", .right = true},
               {.title = "95 %", .right = true},
               {.title = ""}});
  for (std::size_t i = 0; i < std::min(owners.size(), kOwnersShown); ++i) {
    const sim::OwnerDifference& owner = owners[i];
    table.Add({{names.NameOf(owner.owner)},
               {absl::StrCat(owner.jobs)},
               {absl::StrFormat("%.1f s", owner.variant_wait)},
               {absl::StrFormat("%.1f s", owner.base_wait)},
               {absl::StrFormat("%+.1f s", owner.wait.mean)},
               {IntervalText(owner.wait)},
               {Verdict(owner.wait)}});
  }
  const std::string more =
      owners.size() > kOwnersShown
          ? absl::StrCat("and ", owners.size() - kOwnersShown, " more ", plural, ": see --json\n")
          : "";
  return table.Print(style) + more;
}

std::string VariantText(const WhatifVariant& variant, const Style& style) {
  const sim::Comparison& comparison = variant.comparison;
  const sim::TraceNames& names = variant.result.names;
  const sim::OwnerDifference& overall = comparison.overall;
  std::string text = absl::StrFormat(
      "\n%s: mean wait %+.1f s (95 %%: %s), mean bounded slowdown %+.1f (95 %%: %s): %s\n",
      variant.change, overall.wait.mean, IntervalText(overall.wait), overall.slowdown.mean,
      IntervalText(overall.slowdown), Verdict(overall.wait));
  const bool has_accounts = comparison.accounts.size() > 1;
  if (has_accounts) {
    absl::StrAppend(&text, "accounts: ", CountText(comparison.accounts), "; ");
  }
  absl::StrAppend(&text, "users: ", CountText(comparison.users), "; ", comparison.jobs,
                  " jobs of both, ", comparison.only_one, " of one only, ", comparison.blocks,
                  " blocks of ", comparison.block, " s\n\n");
  if (has_accounts) {
    absl::StrAppend(
        &text, OwnerTable(comparison.accounts, names.groups, "ACCOUNT", "accounts", style), "\n");
  }
  return text + OwnerTable(comparison.users, names.users, "USER", "users", style);
}

struct Promise {
  const char* name;
  const char* key;
  sim::PromiseRecord sim::Calibration::*record;
};
constexpr std::array<Promise, 3> kPromises = {{{"P50", "p50", &sim::Calibration::p50},
                                               {"P90", "p90", &sim::Calibration::p90},
                                               {"limits", "limits", &sim::Calibration::if_limits}}};

double HeldShare(const sim::PromiseRecord& record, const sim::Calibration& calibration) {
  return calibration.forecast == 0
             ? 0
             : static_cast<double>(record.held) / static_cast<double>(calibration.forecast);
}

std::string CalibrationText(const sim::Calibration& calibration,
                            const sim::ForecastOptions& options, const Style& style) {
  Table table({{.title = "PROMISE"},
               {.title = "HELD", .right = true},
               {.title = "MEAN ERROR", .right = true},
               {.title = "MEAN PROMISED WAIT", .right = true}});
  for (const Promise& promise : kPromises) {
    const sim::PromiseRecord& record = calibration.*promise.record;
    table.Add({{promise.name},
               {absl::StrFormat("%.1f %%", 100 * HeldShare(record, calibration))},
               {absl::StrFormat("%.1f s", record.error)},
               {absl::StrFormat("%.1f s", record.promised_wait)}});
  }
  return absl::StrCat("\nstart estimates at submission, under the base: ", calibration.forecast,
                      " of the ", calibration.waited, " jobs that waited, ", options.futures,
                      " futures each\n\n", table.Print(style));
}

Json CalibrationJson(const sim::Calibration& calibration, const sim::ForecastOptions& options) {
  Json json = {{"waited", calibration.waited},
               {"forecast", calibration.forecast},
               {"futures", options.futures},
               {"seed", options.seed}};
  for (const Promise& promise : kPromises) {
    const sim::PromiseRecord& record = calibration.*promise.record;
    json[promise.key] = {{"held", record.held},
                         {"held_share", HeldShare(record, calibration)},
                         {"mean_error", record.error},
                         {"mean_promised_wait", record.promised_wait}};
  }
  return json;
}

}  // namespace

std::string PrintWhatif(const WhatifOutcome& outcome, const Style& style) {
  std::string page =
      outcome.complete ? "" : "PARTIAL: stopped by a signal; only whole variants are below\n";
  absl::StrAppend(&page, "trace     ", outcome.trace, "\n\n", MetricTable(outcome, style));
  for (const WhatifVariant& variant : outcome.variants) {
    if (!variant.change.empty()) {
      page += VariantText(variant, style);
    }
  }
  if (outcome.calibration.has_value()) {
    page += CalibrationText(*outcome.calibration, outcome.forecast, style);
  }
  return page;
}

std::string WhatifDocument(const WhatifOutcome& outcome) {
  Json variants = Json::array();
  for (const WhatifVariant& variant : outcome.variants) {
    variants.push_back(VariantJson(variant));
  }
  Json definitions = Json::object();
  for (const sim::Metric& metric : outcome.variants.front().metrics) {
    definitions[metric.name] = metric.definition;
  }
  Json document = {{"trace", outcome.trace},
                   {"complete", outcome.complete},
                   {"seed", outcome.bootstrap.seed},
                   {"resamples", outcome.bootstrap.resamples},
                   {"confidence", outcome.bootstrap.confidence},
                   {"variants", variants},
                   {"definitions", definitions}};
  if (outcome.calibration.has_value()) {
    document["calibration"] = CalibrationJson(*outcome.calibration, outcome.forecast);
  }
  return PrintJson(document);
}

std::string WhatifHtml(const WhatifOutcome& outcome) {
  const sim::FlatResult& base = outcome.variants.front().result;
  sim::ComparisonReport report{
      .title = absl::StrCat("What if: ", outcome.trace),
      .subtitle = absl::StrCat(base.ended, " jobs; ", outcome.bootstrap.resamples,
                               " resamples, seed ", outcome.bootstrap.seed),
      .partial =
          outcome.complete ? "" : "PARTIAL: stopped by a signal; only whole variants are here",
      .unix_start = base.unix_start,
      .confidence = outcome.bootstrap.confidence,
      .schedules = {}};
  for (const WhatifVariant& variant : outcome.variants) {
    report.schedules.push_back({.name = variant.change.empty() ? "base" : variant.change,
                                .processors = variant.result.processors,
                                .metrics = variant.metrics,
                                .profile = variant.profile,
                                .comparison = variant.comparison});
  }
  return sim::ComparisonHtml(report, base.names);
}

}  // namespace muster::cli
