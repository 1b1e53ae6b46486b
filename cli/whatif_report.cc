#include "cli/whatif_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/json_output.h"
#include "cli/render/table.h"

namespace muster {
namespace {

constexpr std::size_t kUsersShown = 10;

const char* Verdict(const Difference& difference) {
  return difference.is_less() ? "gains" : difference.is_more() ? "loses" : "unclear";
}

std::string IntervalText(const Difference& difference) {
  return difference.known ? absl::StrFormat("%+.1f .. %+.1f", difference.low, difference.high)
                          : "too few";
}

Json IntervalJson(const Difference& difference) {
  return {{"mean", difference.mean},
          {"low", difference.known ? Json(difference.low) : Json(nullptr)},
          {"high", difference.known ? Json(difference.high) : Json(nullptr)}};
}

Json UserJson(const UserDifference& user) {
  return {{"jobs", user.jobs},
          {"base_mean_waiting_time", user.base_wait},
          {"mean_waiting_time", user.variant_wait},
          {"waiting_time_difference", IntervalJson(user.wait)},
          {"bounded_slowdown_difference", IntervalJson(user.slowdown)},
          {"verdict", Verdict(user.wait)}};
}

Json VariantJson(const WhatifVariant& variant, const NameTable& names) {
  Json json = {{"change", variant.change},
               {"processors", variant.result.processors},
               {"jobs", variant.result.ended},
               {"dropped", variant.result.dropped.total()}};
  Json metrics = Json::object();
  for (const Metric& metric : variant.metrics) {
    metrics[metric.name] = metric.value;
  }
  json["metrics"] = metrics;
  if (variant.change.empty()) {
    return json;
  }
  const Comparison& comparison = variant.comparison;
  json["compared"] = comparison.jobs;
  json["only_in_one"] = comparison.only_one;
  json["block_s"] = comparison.block;
  json["blocks"] = comparison.blocks;
  json["overall"] = UserJson(comparison.overall);
  Json users = Json::array();
  for (const UserDifference& user : comparison.users) {
    Json entry = {{"user", names.NameOf(user.user)}};
    entry.update(UserJson(user));
    users.push_back(entry);
  }
  json["by_user"] = users;
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
    const Metric& metric = outcome.variants.front().metrics[i];
    std::vector<Cell> row = {{metric.name}};
    for (const WhatifVariant& variant : outcome.variants) {
      row.push_back({i < variant.metrics.size()
                         ? absl::StrFormat(metric.whole ? "%.0f" : "%.4f", variant.metrics[i].value)
                         : "-"});
    }
    row.push_back({metric.unit});
    table.Add(std::move(row));
  }
  return table.Print(style);
}

std::string CountText(const Comparison& comparison) {
  std::size_t gain = 0;
  std::size_t lose = 0;
  for (const UserDifference& user : comparison.users) {
    gain += user.wait.is_less() ? 1 : 0;
    lose += user.wait.is_more() ? 1 : 0;
  }
  return absl::StrCat(gain, " gain, ", lose, " lose, ", comparison.users.size() - gain - lose,
                      " unclear");
}

// The users whose waits change most in all, gains and losses alike.
std::string UserTable(const WhatifVariant& variant, const NameTable& names, const Style& style) {
  std::vector<UserDifference> users = variant.comparison.users;
  const auto weight = [](const UserDifference& user) {
    return std::abs(user.wait.mean) * static_cast<double>(user.jobs);
  };
  std::stable_sort(users.begin(), users.end(),
                   [&weight](const UserDifference& a, const UserDifference& b) {
                     return weight(a) > weight(b);
                   });
  Table table({{.title = "USER"},
               {.title = "JOBS", .right = true},
               {.title = "MEAN WAIT", .right = true},
               {.title = "WAS", .right = true},
               {.title = "DIFFERENCE", .right = true},
               {.title = "95 %", .right = true},
               {.title = ""}});
  for (std::size_t i = 0; i < std::min(users.size(), kUsersShown); ++i) {
    const UserDifference& user = users[i];
    table.Add({{names.NameOf(user.user)},
               {absl::StrCat(user.jobs)},
               {absl::StrFormat("%.1f s", user.variant_wait)},
               {absl::StrFormat("%.1f s", user.base_wait)},
               {absl::StrFormat("%+.1f s", user.wait.mean)},
               {IntervalText(user.wait)},
               {Verdict(user.wait)}});
  }
  const std::string more =
      users.size() > kUsersShown
          ? absl::StrCat("and ", users.size() - kUsersShown, " more users: see --json\n")
          : "";
  return table.Print(style) + more;
}

std::string VariantText(const WhatifVariant& variant, const NameTable& names, const Style& style) {
  const Comparison& comparison = variant.comparison;
  const UserDifference& overall = comparison.overall;
  std::string text = absl::StrFormat(
      "\n%s: mean wait %+.1f s (95 %%: %s), mean bounded slowdown %+.1f (95 %%: %s): %s\n",
      variant.change, overall.wait.mean, IntervalText(overall.wait), overall.slowdown.mean,
      IntervalText(overall.slowdown), Verdict(overall.wait));
  absl::StrAppend(&text, "users: ", CountText(comparison), "; ", comparison.jobs, " jobs of both, ",
                  comparison.only_one, " of one only, ", comparison.blocks, " blocks of ",
                  comparison.block, " s\n\n");
  return text + UserTable(variant, names, style);
}

}  // namespace

std::string PrintWhatif(const WhatifOutcome& outcome, const Style& style) {
  std::string page =
      outcome.complete ? "" : "PARTIAL: stopped by a signal; only whole variants are below\n";
  absl::StrAppend(&page, "trace     ", outcome.trace, "\n\n", MetricTable(outcome, style));
  for (const WhatifVariant& variant : outcome.variants) {
    if (!variant.change.empty()) {
      page += VariantText(variant, variant.result.names.users, style);
    }
  }
  return page;
}

std::string WhatifDocument(const WhatifOutcome& outcome) {
  Json variants = Json::array();
  for (const WhatifVariant& variant : outcome.variants) {
    variants.push_back(VariantJson(variant, variant.result.names.users));
  }
  Json definitions = Json::object();
  for (const Metric& metric : outcome.variants.front().metrics) {
    definitions[metric.name] = metric.definition;
  }
  return PrintJson({{"trace", outcome.trace},
                    {"complete", outcome.complete},
                    {"seed", outcome.bootstrap.seed},
                    {"resamples", outcome.bootstrap.resamples},
                    {"confidence", outcome.bootstrap.confidence},
                    {"variants", variants},
                    {"definitions", definitions}});
}

}  // namespace muster
