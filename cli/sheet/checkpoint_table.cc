#include "cli/sheet/checkpoint_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

std::string ShareText(const CheckpointTotals& totals) {
  constexpr double kPercent = 100;
  const std::optional<double> share = EffectiveShare(totals);
  return share.has_value() ? absl::StrFormat("%.1f %%", *share * kPercent) : "-";
}

bool IsSilent(const CheckpointTotals& totals) {
  return totals.count == 0 && totals.restart == Duration(0) && totals.lost == Duration(0);
}

}  // namespace

std::optional<double> EffectiveShare(const CheckpointTotals& totals) {
  if (totals.held <= Duration(0)) {
    return std::nullopt;
  }
  const Duration kept = totals.held - totals.stall - totals.restart - totals.lost;
  return static_cast<double>(std::max(kept, Duration(0)).count()) /
         static_cast<double>(totals.held.count());
}

std::string CheckpointText(const CheckpointTotals& totals, Duration held) {
  if (IsSilent(totals)) {
    return "";
  }
  std::vector<std::string> parts = {Counted(totals.count, "checkpoint")};
  const auto add = [&parts](Duration time, const char* what) {
    if (time > Duration(0)) {
      parts.push_back(absl::StrCat(PreciseText(time), " ", what));
    }
  };
  add(totals.stall, "stood still");
  add(totals.restart, "until it was back");
  add(totals.lost, "lost");
  CheckpointTotals all = totals;
  all.held += std::max(held, Duration(0));
  return absl::StrCat(absl::StrJoin(parts, ", "), "; ", ShareText(all), " effective");
}

std::string CheckpointText(const AttemptView& attempt, const Style& style) {
  const CheckpointRecord& record = attempt.checkpoints;
  std::string text;
  if (record.count > 0) {
    text = absl::StrCat(record.count, ", the newest at ", MomentText(record.committed, style.zone),
                        ", ", PreciseText(record.cost), " each, ", BytesText(record.bytes.value()));
  }
  if (record.slow > Duration(0)) {
    absl::StrAppend(&text, record.count > 0 ? ", 99 of 100 safe within " : "safe within ",
                    PreciseText(record.slow), record.count > 0 ? "" : " of its warning");
  }
  if (attempt.lost > Duration(0)) {
    absl::StrAppend(&text, text.empty() ? "none; " : "; ", PreciseText(attempt.lost), " lost");
  }
  if (!record.refused.empty()) {
    absl::StrAppend(&text, text.empty() ? "none; " : "; ", "refused ", record.refused);
  }
  return text;
}

std::string PrintCheckpoints(const std::vector<JobView>& jobs, TableChoice choice,
                             const Style& style) {
  constexpr std::size_t kNameLeast = 8;
  Table table({{.title = "JOBID", .right = true, .least = 0},
               {.title = "NAME", .right = false, .least = kNameLeast},
               {.title = "STATE", .right = false, .least = 0},
               {.title = "RESTARTS", .right = true, .least = 0},
               {.title = "SAVED", .right = true, .least = 0},
               {.title = "HELD", .right = true, .least = 0},
               {.title = "STALL", .right = true, .least = 0},
               {.title = "RESTART", .right = true, .least = 0},
               {.title = "LOST", .right = true, .least = 0},
               {.title = "EFFECTIVE", .right = true, .least = 0}});
  for (const JobView& job : jobs) {
    const CheckpointTotals& totals = job.checkpoints;
    table.Add({{.text = job.label},
               {.text = job.name},
               {.text = job.state, .paint = StatePaint(job.state)},
               {.text = absl::StrCat(job.restarts)},
               {.text = absl::StrCat(totals.count)},
               {.text = PreciseText(totals.held)},
               {.text = PreciseText(totals.stall)},
               {.text = PreciseText(totals.restart)},
               {.text = PreciseText(totals.lost)},
               {.text = ShareText(totals)}});
  }
  return table.Print(style, choice.header);
}

}  // namespace muster::cli
