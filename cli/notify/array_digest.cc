#include "cli/notify/array_digest.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/page/quantity.h"
#include "cli/sheet/job_sheet.h"
#include "cli/sheet/job_table.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/base/utf8.h"
#include "scheduler/model/job/array.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {
namespace {

constexpr std::size_t kElementsMost = 50;  // that are listed
constexpr std::size_t kOutputsMost = 20;   // each is a question to the controller
constexpr std::size_t kReasonsMost = 10;
constexpr std::size_t kWorstMost = 3;

// Of elements that were cancelled as they waited, one view stands for a run.
std::size_t CountOf(const JobView& job) {
  std::size_t count = 0;
  for (const ArrayRange& range : job.indices) {
    count += RangeCount(range);
  }
  return std::max<std::size_t>(count, 1);
}

// How much of what an element had it used, worst first.
class Efficiency {
 public:
  void Add(const JobView& job, double used, double had) {
    if (had > 0) {
      used_ += used;
      had_ += had;
      each_.emplace_back(used / had, job.label);
    }
  }
  // "CPU efficiency 31 % in all; least: 5_2 3 %, 5_7 9 %".
  [[nodiscard]] std::string Text(const char* what) {
    if (each_.empty()) {
      return "";
    }
    std::string text = absl::StrCat(what, " efficiency ", PercentText(used_ / had_), " in all");
    if (each_.size() > 1) {
      const std::size_t worst = std::min(kWorstMost, each_.size());
      std::partial_sort(each_.begin(), each_.begin() + static_cast<std::ptrdiff_t>(worst),
                        each_.end());
      for (std::size_t i = 0; i < worst; ++i) {
        absl::StrAppend(&text, i == 0 ? "; least: " : ", ", each_[i].second, " ",
                        PercentText(each_[i].first));
      }
    }
    return text + "\n";
  }

 private:
  double used_ = 0;
  double had_ = 0;
  std::vector<std::pair<double, std::string>> each_;
};

std::string EfficiencyText(const std::vector<JobView>& ended) {
  Efficiency cpu;
  Efficiency memory;
  for (const JobView& job : ended) {
    if (job.start_time == kNoTime || !IsMeasured(job.usage)) {
      continue;
    }
    const Duration elapsed = Elapsed(job, job.end_time);
    cpu.Add(job, static_cast<double>(CpuTime(job.usage).count()),
            static_cast<double>(elapsed.count()) * job.cpus);
    if (job.usage.group_memory.value() > 0) {
      memory.Add(job, static_cast<double>(job.usage.group_memory.value()),
                 static_cast<double>(job.memory.value()));
    }
  }
  return cpu.Text("CPU") + memory.Text("memory");
}

std::string LostText(const std::vector<JobView>& ended) {
  Duration lost{0};
  std::vector<std::pair<Duration, std::string>> each;
  std::uint64_t restarts = 0;
  for (const JobView& job : ended) {
    restarts += job.restarts;
    if (job.checkpoints.lost > Duration(0)) {
      lost += job.checkpoints.lost;
      each.emplace_back(job.checkpoints.lost, job.label);
    }
  }
  if (each.empty() && restarts == 0) {
    return "lost work: none\n";
  }
  std::string text =
      absl::StrCat("lost work: ", PreciseText(lost), ", ", Counted(restarts, "restart"), " in all");
  const std::size_t most = std::min(kWorstMost, each.size());
  std::partial_sort(each.begin(), each.begin() + static_cast<std::ptrdiff_t>(most), each.end(),
                    std::greater<>());
  for (std::size_t i = 0; i < most; ++i) {
    absl::StrAppend(&text, i == 0 ? "; most: " : ", ", each[i].second, " ",
                    PreciseText(each[i].first));
  }
  return text + "\n";
}

// "energy 1.2 kWh in all", "cost 12.34 EUR in all"; what was not measured or has no price is left
// out.
std::string CostsText(const std::vector<JobView>& ended) {
  std::uint64_t energy = 0;
  Cost cost;
  std::string currency;
  for (const JobView& job : ended) {
    energy += EnergyOf(job.usage);
    cost += job.cost;
    currency = job.currency;
  }
  return absl::StrCat(
      energy == 0 ? "" : absl::StrCat("energy ", EnergyText(energy), " in all\n"),
      currency.empty() ? "" : absl::StrCat("cost ", CostText(cost, currency), " in all\n"));
}

std::string InDirectory(const JobDetail& detail, const std::string& path) {
  return path.empty() ? "" : Printable((std::filesystem::path(detail.work_dir) / path).string());
}

// Where an element has written; empty: nobody knows.
std::string OutputText(const absl::StatusOr<JobDetail>& detail) {
  if (!detail.ok() || detail->stdout_path.empty()) {
    return "";
  }
  const std::string output = InDirectory(*detail, detail->stdout_path);
  return detail->stderr_path.empty() || detail->stderr_path == detail->stdout_path
             ? output
             : absl::StrCat(output, ", errors in ", InDirectory(*detail, detail->stderr_path));
}

std::string ReasonsText(const std::map<std::pair<std::string, std::string>, std::size_t>& reasons) {
  std::vector<std::pair<std::size_t, std::string>> most;
  most.reserve(reasons.size());
  for (const auto& [reason, count] : reasons) {
    most.emplace_back(count, absl::StrCat(reason.first, ": ", reason.second));
  }
  std::stable_sort(most.begin(), most.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kReasonsMost, most.size()); ++i) {
    absl::StrAppend(&text, "  ", most[i].first, " ", most[i].second, "\n");
  }
  return most.size() <= kReasonsMost
             ? text
             : absl::StrCat(text, "  and ", most.size() - kReasonsMost, " other reasons\n");
}

std::string OutputsText(const std::vector<JobView>& ended,
                        const std::function<absl::StatusOr<JobDetail>(JobId job)>& show) {
  for (const JobView& job : ended) {
    if (job.start_time == kNoTime) {
      continue;
    }
    const std::string output = OutputText(show(job.id));
    return output.empty() ? ""
                          : absl::StrCat("outputs: that of ", job.label, " is ", output,
                                         "; the others' are named alike\n");
  }
  return "";
}

}  // namespace

ArrayDigest DigestOf(std::vector<JobView> ended,
                     const std::function<absl::StatusOr<JobDetail>(JobId job)>& show) {
  std::sort(ended.begin(), ended.end(),
            [](const JobView& a, const JobView& b) { return a.id < b.id; });
  ArrayDigest digest;
  std::map<std::string, std::size_t> states;
  std::map<std::pair<std::string, std::string>, std::size_t> reasons;
  std::string failed;
  std::size_t listed = 0;
  std::size_t more = 0;
  for (const JobView& job : ended) {
    states[job.state] += CountOf(job);
    if (IsSuccess(job.state)) {
      continue;
    }
    digest.all_well = false;
    const std::string why = Printable(EndText(job));
    reasons[{job.state, why}] += CountOf(job);
    if (listed == kElementsMost) {
      more += CountOf(job);
      continue;
    }
    ++listed;
    absl::StrAppend(&failed, "  ", job.label, "  ", job.state, "  ", why, "\n");
    if (listed <= kOutputsMost && job.start_time != kNoTime) {
      const std::string output = OutputText(show(job.id));
      absl::StrAppend(&failed, output.empty() ? "" : "      output in ", output,
                      output.empty() ? "" : "\n");
    }
  }
  for (const auto& [state, count] : states) {
    absl::StrAppend(&digest.sums, digest.sums.empty() ? "" : ", ", count, " ", state);
  }
  digest.text = absl::StrCat(
      "All elements have ended: ", digest.sums, ".\n", reasons.empty() ? "" : "\nWhy:\n",
      ReasonsText(reasons), "\n", EfficiencyText(ended), LostText(ended), CostsText(ended),
      OutputsText(ended, show), failed.empty() ? "" : "\nNot completed:\n", failed);
  if (more > 0) {
    absl::StrAppend(&digest.text, "  and ", more, " more\n");
  }
  return digest;
}

}  // namespace muster::cli
