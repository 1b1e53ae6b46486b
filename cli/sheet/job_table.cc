#include "cli/sheet/job_table.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/page/quantity.h"
#include "cli/page/text.h"
#include "cli/sheet/usage_text.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/job/array.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/plan/reason.h"

namespace muster::cli {
namespace {

constexpr std::size_t kNameLeast = 8;
constexpr std::size_t kTextLeast = 12;

// Where it is, or why it waits: a suspended job does both, and says the latter.
bool ShowsReason(const JobView& job) {
  return IsWaiting(job.state) || IsSuspended(job.state);
}

std::uint64_t ElementOf(const JobView& job) {
  std::uint64_t element = 0;
  std::from_chars(job.array_task_id.data(), job.array_task_id.data() + job.array_task_id.size(),
                  element);
  return element;
}

std::string LabelOf(const QueueLine& line) {
  if (line.job->alike > 1) {
    const std::uint64_t first = line.job->id.value();
    return absl::StrCat("[", first, "-", first + line.job->alike - 1, "]");
  }
  return line.elements.size() < 2
             ? line.job->label
             : absl::StrCat(line.job->array_job_id.value(), "_[", NumberList(line.elements), "]");
}

std::string ReasonText(const ReasonView& reason) {
  return reason.text.empty() ? absl::StrCat("(", reason.kind.empty() ? "None" : reason.kind, ")")
                             : absl::StrCat("(", reason.text, ")");
}

std::string ExitColumn(const JobView& job) {
  return job.start_time == kNoTime ? "-" : absl::StrCat(job.exit_code, ":", job.exit_signal);
}

// When the job started, or is expected to; "-" when nobody knows.
std::string StartText(const JobView& job, const Style& style) {
  const Time start = job.start_time != kNoTime ? job.start_time : job.expected_start;
  return start == kNoTime ? "-" : MomentText(start, style.zone);
}

std::vector<Column> TitlesOf(const TableChoice& choice, bool priorities) {
  std::vector<Column> columns = {{.title = "JOBID", .right = true, .least = 12},
                                 {.title = "NAME", .right = false, .least = kNameLeast},
                                 {.title = "USER", .right = false, .least = kNameLeast},
                                 {.title = "ST", .right = false, .least = 0},
                                 {.title = "TIME", .right = true, .least = 0},
                                 {.title = "NODES", .right = true, .least = 0},
                                 {.title = "CPUS", .right = true, .least = 0}};
  if (priorities) {
    columns.push_back({.title = "PRIORITY", .right = true, .least = 0});
  }
  if (choice.start) {
    columns.push_back({.title = "START", .right = false, .least = 0});
  }
  columns.push_back({.title = "REASON/NODELIST", .right = false, .least = kTextLeast});
  return columns;
}

// Columns of the history that stand there when some job has something for them.
struct HistoryColumns {
  bool gpus = false;
  bool energy = false;
  bool costs = false;
  bool told = false;
};

HistoryColumns ColumnsOf(const std::vector<JobView>& jobs) {
  HistoryColumns columns;
  for (const JobView& job : jobs) {
    columns.gpus = columns.gpus || job.gpus > 0;
    columns.energy = columns.energy || EnergyOf(job.usage) > 0;
    columns.costs = columns.costs || !job.currency.empty();
    columns.told = columns.told || !job.exit_text.empty();
  }
  return columns;
}

std::vector<Column> TitlesOf(const HistoryColumns& shown) {
  std::vector<Column> columns = {{.title = "JOBID", .right = true, .least = 0},
                                 {.title = "NAME", .right = false, .least = kNameLeast},
                                 {.title = "STATE", .right = false, .least = 0},
                                 {.title = "EXIT", .right = true, .least = 0},
                                 {.title = "ELAPSED", .right = true, .least = 0},
                                 {.title = "CPU-TIME", .right = true, .least = 0},
                                 {.title = "EFF", .right = true, .least = 0},
                                 {.title = "PEAK-MEM", .right = true, .least = 0}};
  for (const auto& [title, is_shown] :
       {std::pair("GPU-EFF", shown.gpus), std::pair("ENERGY", shown.energy),
        std::pair("COST", shown.costs)}) {
    if (is_shown) {
      columns.push_back({.title = title, .right = true, .least = 0});
    }
  }
  columns.push_back({.title = "NODES", .right = false, .least = kTextLeast});
  columns.push_back({.title = "BINDING", .right = false, .least = kTextLeast});
  if (shown.told) {
    columns.push_back({.title = "WHY", .right = false, .least = kTextLeast});
  }
  return columns;
}

std::vector<Cell> HistoryCells(const JobView& job, const HistoryColumns& shown) {
  const bool ran = job.start_time != kNoTime;
  const bool measured = ran && IsMeasured(job.usage);
  const Duration elapsed = Elapsed(job, job.end_time);
  std::vector<Cell> cells = {{.text = job.label},
                             {.text = job.name},
                             {.text = job.state, .paint = StatePaint(job.state)},
                             {.text = ExitColumn(job)},
                             {.text = ran ? PreciseText(elapsed) : "-"},
                             {.text = measured ? PreciseText(CpuTime(job.usage)) : "-"},
                             {.text = OrDash(CpuEfficiency(job.usage, elapsed, job.cpus))},
                             {.text = BytesOrDash(job.usage.peak_memory)}};
  if (shown.gpus) {
    cells.push_back({.text = OrDash(GpuEfficiency(job.usage, elapsed, job.gpus))});
  }
  if (shown.energy) {
    cells.push_back({.text = EnergyOf(job.usage) > 0 ? EnergyText(EnergyOf(job.usage)) : "-"});
  }
  if (shown.costs) {
    cells.push_back({.text = ran ? OrDash(CostText(job.cost, job.currency)) : "-"});
  }
  cells.push_back({.text = OrDash(CompressHostlist(job.nodes))});
  cells.push_back({.text = OrDash(job.binding)});
  if (shown.told) {
    cells.push_back({.text = OrDash(job.exit_text)});
  }
  return cells;
}

}  // namespace

std::vector<QueueLine> FoldQueue(const std::vector<JobView>& jobs, bool fold) {
  std::vector<QueueLine> lines;
  std::map<std::pair<JobId, bool>, std::size_t> line_of;  // array and "is held" to its line
  for (const JobView& job : jobs) {
    if (!fold || job.array_task_id.empty() || !IsWaiting(job.state)) {
      lines.push_back({.job = &job, .elements = {}});
      continue;
    }
    const bool held = job.reason.kind == Name(ReasonKind::kJobHeldUser);
    const auto [place, added] = line_of.try_emplace({job.array_job_id, held}, lines.size());
    if (added) {
      lines.push_back({.job = &job, .elements = {}});
    }
    std::vector<std::uint64_t>& elements = lines[place->second].elements;
    if (job.indices.empty()) {
      elements.push_back(ElementOf(job));
    }
    ForEachElement(ArraySpec{job.indices, 0},
                   [&](std::uint32_t index) { elements.push_back(index); });
  }
  return lines;
}

std::string StateCode(const std::string& state) {
  const std::optional<JobState> known = StateNamed(state);
  return known.has_value() ? Code(*known) : state;
}

Paint StatePaint(const std::string& state) {
  const std::optional<JobState> known = StateNamed(state);
  if (!known.has_value()) {
    return Paint::kPlain;
  }
  switch (*known) {
    case JobState::kPending:
    case JobState::kConfiguring:
    case JobState::kCompleting:
    case JobState::kSuspended:
      return Paint::kYellow;
    case JobState::kRunning:
    case JobState::kCompleted:
      return Paint::kGreen;
    case JobState::kCancelled:
    case JobState::kPreempted:
      return Paint::kFaint;
    case JobState::kFailed:
    case JobState::kTimeout:
    case JobState::kNodeFail:
    case JobState::kOutOfMemory:
    case JobState::kDeadline:
      return Paint::kRed;
  }
  return Paint::kPlain;
}

Duration Elapsed(const JobView& job, Time now) {
  if (job.start_time == kNoTime) {
    return Duration(0);
  }
  const Time end = job.end_time != kNoTime          ? job.end_time
                   : job.suspended_since != kNoTime ? job.suspended_since
                                                    : now;
  return std::max(Duration(0), end - job.start_time - job.suspended);
}

QueuePages::QueuePages(TableChoice choice, bool priorities, Time now, Style style)
    : choice_(choice),
      priorities_(priorities),
      now_(now),
      style_(style),
      table_(TitlesOf(choice, priorities)) {}

std::string QueuePages::Next(const std::vector<JobView>& jobs) {
  const std::string not_yet = ElapsedText(Duration(0));
  std::vector<Cell> row;
  for (const QueueLine& line : FoldQueue(jobs, choice_.fold)) {
    const JobView& job = *line.job;
    const bool waiting = IsWaiting(job.state);
    row.clear();
    row.push_back({.text = LabelOf(line)});
    row.push_back({.text = job.name});
    row.push_back({.text = job.user});
    row.push_back({.text = StateCode(job.state), .paint = StatePaint(job.state)});
    row.push_back({.text = job.start_time == kNoTime ? not_yet : ElapsedText(Elapsed(job, now_))});
    row.push_back({.text = waiting ? "-" : absl::StrCat(job.nodes.size())});
    row.push_back({.text = absl::StrCat(job.cpus)});
    if (priorities_) {
      row.push_back({.text = job.priority > 0 ? absl::StrCat(job.priority) : "-"});
    }
    if (choice_.start) {
      row.push_back({.text = StartText(job, style_)});
    }
    row.push_back(
        {.text = ShowsReason(job) ? ReasonText(job.reason) : CompressHostlist(job.nodes)});
    table_.Add(row);
  }
  return table_.TakeLines(style_, choice_.header);
}

std::string PrintQueue(const std::vector<JobView>& jobs, TableChoice choice, Time now,
                       const Style& style) {
  const bool priorities =
      std::any_of(jobs.begin(), jobs.end(), [](const JobView& job) { return job.priority > 0; });
  return QueuePages(choice, priorities, now, style).Next(jobs);
}

std::string PrintHistory(const std::vector<JobView>& jobs, TableChoice choice, const Style& style) {
  const HistoryColumns shown = ColumnsOf(jobs);
  Table table(TitlesOf(shown));
  for (const JobView& job : jobs) {
    table.Add(HistoryCells(job, shown));
  }
  return table.Print(style, choice.header);
}

}  // namespace muster::cli
