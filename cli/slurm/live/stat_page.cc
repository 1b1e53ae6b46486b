#include "cli/slurm/live/stat_page.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "absl/strings/match.h"
#include "cli/slurm/format/batch_word.h"
#include "cli/slurm/format/cell.h"
#include "cli/slurm/format/field_list.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli::slurm {
namespace {

constexpr std::size_t kHelpWidth = 19;
constexpr std::size_t kHelpColumns = 4;

// sstat's fields in the order of its help; those that sacct has too are sacct's.
constexpr std::array kStatFields = {
    StatColumn{"AveCPU", 10},
    StatColumn{"AveCPUFreq", 10},
    StatColumn{"AveDiskRead", 12},
    StatColumn{"AveDiskWrite", 12},
    StatColumn{"AvePages", 10},
    StatColumn{"AveRSS", 10},
    StatColumn{"AveVMSize", 10},
    StatColumn{"ConsumedEnergy", 14},
    StatColumn{"ConsumedEnergyRaw", 17},
    StatColumn{"JobID", -12},
    StatColumn{"MaxDiskRead", 12},
    StatColumn{"MaxDiskReadNode", 15},
    StatColumn{"MaxDiskReadTask", 15},
    StatColumn{"MaxDiskWrite", 12},
    StatColumn{"MaxDiskWriteNode", 16},
    StatColumn{"MaxDiskWriteTask", 16},
    StatColumn{"MaxPages", 8},
    StatColumn{"MaxPagesNode", 12},
    StatColumn{"MaxPagesTask", 14},
    StatColumn{"MaxRSS", 10},
    StatColumn{"MaxRSSNode", 10},
    StatColumn{"MaxRSSTask", 10},
    StatColumn{"MaxVMSize", 10},
    StatColumn{"MaxVMSizeNode", 14},
    StatColumn{"MaxVMSizeTask", 14},
    StatColumn{"MinCPU", 10},
    StatColumn{"MinCPUNode", 10},
    StatColumn{"MinCPUTask", 10},
    StatColumn{"Nodelist", 20},
    StatColumn{"NTasks", 8},
    StatColumn{"Pids", 20},
    StatColumn{"ReqCPUFreq", 13},
    StatColumn{"ReqCPUFreqMin", 13},
    StatColumn{"ReqCPUFreqMax", 13},
    StatColumn{"ReqCPUFreqGov", 13},
    StatColumn{"TRESUsageInAve", 14},
    StatColumn{"TRESUsageInMax", 14},
    StatColumn{"TRESUsageInMaxNode", 18},
    StatColumn{"TRESUsageInMaxTask", 18},
    StatColumn{"TRESUsageInMin", 14},
    StatColumn{"TRESUsageInMinNode", 18},
    StatColumn{"TRESUsageInMinTask", 18},
    StatColumn{"TRESUsageInTot", 14},
    StatColumn{"TRESUsageOutAve", 15},
    StatColumn{"TRESUsageOutMax", 15},
    StatColumn{"TRESUsageOutMaxNode", 19},
    StatColumn{"TRESUsageOutMaxTask", 19},
    StatColumn{"TRESUsageOutMin", 15},
    StatColumn{"TRESUsageOutMinNode", 19},
    StatColumn{"TRESUsageOutMinTask", 19},
    StatColumn{"TRESUsageOutTot", 15},
};

// Fields of which the value is a figure of what was used.
bool IsMeasured(const std::string& name) {
  return name != "JobID" && name != "NTasks" && name != "Nodelist";
}

Usage TotalOf(const std::vector<NodeUsage>& nodes) {
  Usage total;
  for (const NodeUsage& node : nodes) {
    total.Add(node.usage);
  }
  return total;
}

// Where the largest process is.
std::string LargestNode(const std::vector<NodeUsage>& nodes) {
  const auto largest =
      std::max_element(nodes.begin(), nodes.end(), [](const NodeUsage& a, const NodeUsage& b) {
        return a.usage.peak_memory < b.usage.peak_memory;
      });
  return largest == nodes.end() ? "" : largest->node;
}

std::string ValueOf(const StatColumn& column, const AccountRow& row, const JobDetail& detail,
                    bool measured, const AccountScene& scene) {
  const std::string name = column.name;
  if (IsMeasured(name) && (!measured || detail.live_usage.empty())) {
    return "";
  }
  if (name == "MaxRSSNode") {
    return LargestNode(detail.live_usage);
  }
  // Neither a task's share nor a process is known: a total, or a largest, is not given out for one.
  if (name == "AveRSS" || name == "MinCPU" || name == "TRESUsageInAve" ||
      name == "TRESUsageInMax" || name == "Pids") {
    return "";
  }
  const AccountField* const field = FindAccountField(name);
  return field == nullptr ? "" : field->value(row, scene);
}

}  // namespace

absl::StatusOr<std::vector<StatColumn>> ReadStatFormat(std::string_view text) {
  std::vector<StatColumn> columns;
  for (const SizedField& asked : ParseSizedFormat(text)) {
    const auto* const found =
        std::find_if(kStatFields.begin(), kStatFields.end(), [&asked](const StatColumn& field) {
          return absl::EqualsIgnoreCase(field.name, asked.name);
        });
    if (found == kStatFields.end()) {
      return absl::InvalidArgumentError(asked.name);
    }
    columns.push_back({found->name, asked.width.value_or(found->width)});
  }
  return columns;
}

std::string StatFieldHelp() {
  std::string page;
  std::size_t column = 0;
  for (const StatColumn& field : kStatFields) {
    page += InSlot(field.name, {.width = kHelpWidth});
    page += ++column % kHelpColumns == 0 ? "\n" : " ";
  }
  page.back() = '\n';
  return page;
}

std::vector<std::vector<std::string>> StatRows(const JobDetail& detail, const StatChoice& choice,
                                               const std::vector<StatColumn>& columns,
                                               const AccountScene& scene) {
  std::vector<std::vector<std::string>> rows;
  JobView job = detail.job;
  job.usage = TotalOf(detail.live_usage);
  const bool script = HasScript(detail);
  const auto add = [&](const AccountRow& row, bool measured) {
    std::vector<std::string> values;
    values.reserve(columns.size());
    for (const StatColumn& column : columns) {
      values.push_back(ValueOf(column, row, detail, measured, scene));
    }
    rows.push_back(std::move(values));
  };
  const bool runs = IsRunning(job.state);
  if (runs && script && (choice.all || choice.batch)) {
    add({.job = &job, .detail = &detail, .step = nullptr, .batch = true}, true);
  }
  for (StepView step : detail.steps) {
    const bool wanted = choice.has_step ? step.step == choice.step
                        : choice.all    ? true
                                        : !choice.batch && rows.empty();
    if (wanted && IsRunning(step.state)) {
      step.usage = job.usage;
      add({.job = &job, .detail = &detail, .step = &step}, !script);
    }
  }
  return rows;
}

}  // namespace muster::cli::slurm
