#include "cli/sheet/health_table.h"

#include "absl/strings/str_cat.h"
#include "cli/page/table.h"
#include "cli/page/text.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/handle/nodes/health_judge.h"

namespace muster::cli {
namespace {

constexpr std::uint64_t kFailure = 1'000'000;  // of FailureTally

Paint PaintOf(HealthStatus status) {
  switch (status) {
    case HealthStatus::kUnjudged:
      return Paint::kFaint;
    case HealthStatus::kGood:
      return Paint::kGreen;
    case HealthStatus::kSuspect:
      return Paint::kYellow;
    case HealthStatus::kFailed:
      return Paint::kRed;
  }
  return Paint::kPlain;
}

std::string Ago(Time time, Time now) {
  return time == kNoTime ? "-" : absl::StrCat(ElapsedText(now - time), " ago");
}

std::string StateOf(const HealthView& node) {
  const std::string state = node.state.empty() ? "never checked" : node.state;
  return node.health.drained ? absl::StrCat(state, ", drained") : state;
}

std::string AmountText(std::uint64_t value, const HealthFigure& figure) {
  return absl::StrCat(core::Thousandths(value), figure.unit.empty() ? "" : " ", figure.unit);
}

std::string RoofShare(const HealthFigure& figure) {
  return figure.roof == 0 ? "-" : absl::StrCat(figure.value * 100 / figure.roof, " %");
}

std::string PrintVerdicts(const HealthRecord& record, const Style& style) {
  Table table({{.title = "COMPONENT"},
               {.title = "MEASURED", .right = true},
               {.title = "CLASS MEDIAN", .right = true},
               {.title = "3 MAD", .right = true},
               {.title = "SAMPLES", .right = true},
               {.title = "OF ROOF", .right = true},
               {.title = "VERDICT"}});
  for (const HealthVerdict& verdict : record.verdicts) {
    const bool compared = verdict.samples > 0;
    table.Add({{verdict.figure.component},
               {AmountText(verdict.figure.value, verdict.figure)},
               {compared ? AmountText(verdict.median, verdict.figure) : "-"},
               {compared ? core::Thousandths(3 * verdict.spread) : "-"},
               {compared ? absl::StrCat(verdict.samples) : "-"},
               {RoofShare(verdict.figure)},
               {Name(verdict.status), PaintOf(verdict.status)}});
  }
  return table.Print(style);
}

std::string PrintHistory(const std::vector<HealthRecord>& history, Time now, const Style& style) {
  Table table({{.title = "CHECK", .right = true},
               {.title = "WHEN", .right = true},
               {.title = "KIND"},
               {.title = "WHY"},
               {.title = "TOOK", .right = true},
               {.title = "RESULT", .right = false, .least = 20}});
  for (const HealthRecord& record : history) {
    const bool measured = record.outcome == HealthOutcome::kMeasured;
    const std::string text = record.status >= HealthStatus::kSuspect
                                 ? core::TextOf(record.verdicts, record.status)
                                 : record.text;
    table.Add({{absl::StrCat(record.number)},
               {Ago(record.time, now)},
               {Name(record.kind)},
               {Name(record.cause)},
               {PreciseText(record.took)},
               {absl::StrCat(measured ? Name(record.status) : Name(record.outcome),
                             text.empty() ? "" : ": ", text),
                measured ? PaintOf(record.status) : Paint::kPlain}});
  }
  return table.Print(style);
}

}  // namespace

const char* Name(HealthKind kind) {
  return kind == HealthKind::kQuick ? "quick" : kind == HealthKind::kBurnIn ? "burn-in" : "reboot";
}

const char* Name(HealthCause cause) {
  switch (cause) {
    case HealthCause::kAsked:
      return "asked";
    case HealthCause::kBoot:
      return "boot";
    case HealthCause::kSchedule:
      return "schedule";
    case HealthCause::kFailure:
      return "failure";
    case HealthCause::kConfirm:
      return "was slow";
    case HealthCause::kReadmission:
      return "re-admission";
  }
  return "";
}

const char* Name(HealthStatus status) {
  switch (status) {
    case HealthStatus::kUnjudged:
      return "not judged";
    case HealthStatus::kGood:
      return "good";
    case HealthStatus::kSuspect:
      return "slow";
    case HealthStatus::kFailed:
      return "failed";
  }
  return "";
}

const char* Name(HealthOutcome outcome) {
  switch (outcome) {
    case HealthOutcome::kMeasured:
      return "measured";
    case HealthOutcome::kYielded:
      return "yielded";
    case HealthOutcome::kBroken:
      return "broken";
    case HealthOutcome::kRebooted:
      return "rebooted";
  }
  return "";
}

std::string PrintHealthTable(const std::vector<HealthView>& nodes, Time now, const Style& style) {
  Table table({{.title = "NAME"},
               {.title = "HEALTH", .right = false, .least = 16},
               {.title = "CHECKED", .right = true},
               {.title = "KIND"},
               {.title = "LIKE IT", .right = true},
               {.title = "NODE FAILURES", .right = true}});
  for (const HealthView& node : nodes) {
    const bool checked = node.health.last.number > 0;
    table.Add({{node.node},
               {StateOf(node), PaintOf(node.health.last.status)},
               {Ago(node.health.last.time, now)},
               {checked ? Name(node.health.last.kind) : "-"},
               {absl::StrCat(node.class_nodes)},
               {core::Thousandths(node.tally.failures * 1000 / kFailure)}});
  }
  return table.Print(style);
}

std::string PrintHealthPage(const HealthView& node, Time now, const Style& style) {
  std::string page = absl::StrCat(Printable(node.node), ": ", Printable(StateOf(node)));
  if (node.health.last.number > 0) {
    absl::StrAppend(&page, ", checked ", Ago(node.health.last.time, now));
  }
  absl::StrAppend(&page, "; ", Counted(node.class_nodes, "node"), " of its class\n");
  if (node.tally.failures > 0) {
    absl::StrAppend(&page,
                    "node failures: ", core::Thousandths(node.tally.failures * 1000 / kFailure),
                    " in ", ElapsedText(node.tally.exposure),
                    " of jobs; three times its class's rate with probability ",
                    core::Thousandths(node.sick_permille), "\n");
  }
  if (node.health.last.number > 0) {
    absl::StrAppend(&page, PrintVerdicts(node.health.last, style));
  }
  if (!node.history.empty()) {
    absl::StrAppend(&page, "\n", PrintHistory(node.history, now, style));
  }
  return page;
}

}  // namespace muster::cli
