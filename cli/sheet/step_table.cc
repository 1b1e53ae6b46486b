#include "cli/sheet/step_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "cli/page/text.h"
#include "cli/sheet/job_table.h"
#include "cli/sheet/usage_text.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {
namespace {

std::string NodesText(const StepView& step) {
  return step.nodes.empty()
             ? "-"
             : CompressHostlist(std::vector<std::string>(absl::StrSplit(step.nodes, ',')));
}

std::string CountText(std::uint32_t count) {
  return count == 0 ? "-" : absl::StrCat(count);
}

std::string EndText(const StepView& step) {
  if (step.end_time == kNoTime || IsRunning(step.state)) {
    return "-";
  }
  if (step.start_time == kNoTime) {
    return step.text.empty() ? "-" : step.text;
  }
  const std::string exit = ExitText(step.exit);
  return step.text.empty() ? exit : absl::StrCat(exit, ", ", step.text);
}

std::vector<Cell> RowOf(const std::string& label, const StepView& step, Time now) {
  const bool started = step.start_time != kNoTime;
  const bool over = step.end_time != kNoTime && !IsRunning(step.state);
  const bool measured = over && started && IsMeasured(step.usage);
  const Duration elapsed = started ? (over ? step.end_time : now) - step.start_time : Duration(0);
  const std::string efficiency =
      over ? CpuEfficiency(step.usage, elapsed, step.cpus) : std::string();
  return {{.text = absl::StrCat(label, ".", step.step.value())},
          {.text = step.name.empty() ? "-" : step.name},
          {.text = step.state, .paint = StatePaint(step.state)},
          {.text = NodesText(step)},
          {.text = CountText(step.tasks)},
          {.text = CountText(step.cpus)},
          {.text = CountText(step.gpus)},
          {.text = started ? PreciseText(elapsed) : "-"},
          {.text = measured ? PreciseText(CpuTime(step.usage)) : "-"},
          {.text = efficiency.empty() ? "-" : efficiency},
          {.text = over && started ? BytesOrDash(step.usage.peak_memory) : "-"},
          {.text = EndText(step)}};
}

}  // namespace

std::string PrintSteps(const std::vector<JobSteps>& jobs, Time now, const Style& style) {
  Table table({{.title = "STEP", .right = false, .least = 0},
               {.title = "NAME", .right = false, .least = 0},
               {.title = "STATE", .right = false, .least = 0},
               {.title = "NODES", .right = false, .least = 0},
               {.title = "TASKS", .right = true, .least = 0},
               {.title = "CPUS", .right = true, .least = 0},
               {.title = "GPUS", .right = true, .least = 0},
               {.title = "ELAPSED", .right = true, .least = 0},
               {.title = "CPUTIME", .right = true, .least = 0},
               {.title = "EFF", .right = true, .least = 0},
               {.title = "MEM", .right = true, .least = 0},
               {.title = "EXIT", .right = false, .least = 0}});
  for (const JobSteps& job : jobs) {
    for (const StepView& step : job.steps) {
      table.Add(RowOf(job.label, step, now));
    }
  }
  return table.Print(style, true, 2);
}

}  // namespace muster::cli
