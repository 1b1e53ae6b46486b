#include "cli/checkpoint/checkpoint_levels.h"

#include <unistd.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "checkpoint/advice/levels.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/page/table.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"

namespace muster::cli {
namespace {

using checkpoint::IntervalError;
using checkpoint::Level;
using checkpoint::LevelsPlan;

absl::Status BadLevel(const std::string& text, const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("--level ", text, ": ", why, ": use COST/MTBF, like --level 2s/8h"));
}

// More than nothing, in seconds.
absl::StatusOr<double> SecondsIn(const std::string& level, const std::string& text) {
  const absl::StatusOr<Duration> duration = ParseDuration(text);
  if (!duration.ok()) {
    return BadLevel(level, std::string(duration.status().message()));
  }
  if (*duration <= Duration(0)) {
    return BadLevel(level, "a cost and a time between failures are more than 0");
  }
  return static_cast<double>(duration->count()) / 1000;
}

absl::StatusOr<std::vector<Level>> ReadLevels(const Invocation& invocation) {
  for (const char* single :
       {"cost", "mtbf", "restart", "min-interval", "max-interval", "remaining", "at-limit"}) {
    if (invocation.Has(single)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", single, ": is for one level: leave it out beside --level"));
    }
  }
  std::vector<Level> levels;
  for (const std::string& text :
       std::vector<std::string>(absl::StrSplit(invocation.Value("level"), ' '))) {
    const std::vector<std::string> parts = absl::StrSplit(text, '/');
    if (parts.size() != 2) {
      return BadLevel(text, "is no level");
    }
    Level level;
    ASSIGN_OR_RETURN(level.cost_s, SecondsIn(text, parts[0]));
    ASSIGN_OR_RETURN(level.mtbf_s, SecondsIn(text, parts[1]));
    if (!levels.empty() && level.cost_s < levels.back().cost_s) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--level ", text, ": costs less than the one before: name the cheapest first"));
    }
    levels.push_back(level);
  }
  return levels;
}

// How many of the level below there are for one of this; 1 of the first.
std::uint64_t MultipleOf(const LevelsPlan& nested, std::size_t level) {
  return level == 0 ? 1
                    : checkpoint::NestedMultiple(nested.levels[level].interval_s,
                                                 nested.levels[level - 1].interval_s);
}

std::string LevelsDocument(const std::vector<Level>& levels, const LevelsPlan& free,
                           const LevelsPlan& nested) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    rows.push_back({{"cost_s", levels[i].cost_s},
                    {"mtbf_s", levels[i].mtbf_s},
                    {"interval_s", free.levels[i].interval_s},
                    {"overhead", free.levels[i].overhead},
                    {"nested_s", nested.levels[i].interval_s},
                    {"nested_overhead", nested.levels[i].overhead},
                    {"multiple", MultipleOf(nested, i)}});
  }
  return PrintJson({{"levels", std::move(rows)},
                    {"overhead", free.overhead},
                    {"nested_overhead", nested.overhead}});
}

std::string Percent(double share) {
  return absl::StrFormat("%.4f %%", 100 * share);
}

std::string SpanText(double seconds) {
  return PreciseText(Duration(std::llround(1000 * seconds)));
}

std::string Page(const std::vector<Level>& levels, const LevelsPlan& free, const LevelsPlan& nested,
                 const Style& style) {
  Table table({{.title = "LEVEL", .right = true},
               {.title = "COST", .right = true},
               {.title = "MTBF", .right = true},
               {.title = "SECONDS", .right = true},
               {.title = "OVERHEAD", .right = true},
               {.title = "NESTED", .right = true},
               {.title = "SECONDS", .right = true},
               {.title = "OVERHEAD", .right = true}});
  for (std::size_t i = 0; i < levels.size(); ++i) {
    table.Add({{absl::StrCat(i + 1)},
               {SpanText(levels[i].cost_s)},
               {SpanText(levels[i].mtbf_s)},
               {absl::StrFormat("%.1f", free.levels[i].interval_s)},
               {Percent(free.levels[i].overhead)},
               {i == 0 ? "-" : absl::StrCat("1 of ", MultipleOf(nested, i))},
               {absl::StrFormat("%.1f", nested.levels[i].interval_s)},
               {Percent(nested.levels[i].overhead)}});
  }
  return absl::StrCat(table.Print(style), "\neach by itself ",
                      absl::StrFormat("%.3f %%", 100 * free.overhead), " of the time, nested ",
                      absl::StrFormat("%.3f %%", 100 * nested.overhead), "\n");
}

}  // namespace

absl::StatusOr<int> CheckpointLevels(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::vector<Level> levels, ReadLevels(invocation));
  const LevelsPlan free = checkpoint::PlanLevels(levels);
  const LevelsPlan nested = checkpoint::PlanNestedLevels(levels);
  if (free.error != IntervalError::kNone) {
    return absl::InvalidArgumentError(absl::StrCat("--level: ", checkpoint::Text(free.error)));
  }
  RETURN_IF_ERROR(
      WriteOut(invocation.Has("json")
                   ? LevelsDocument(levels, free, nested)
                   : Page(levels, free, nested, StyleFor(invocation.environment, STDOUT_FILENO))));
  return 0;
}

}  // namespace muster::cli
