#include "cli/report/report_tally.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "cli/page/quantity.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {
namespace {

constexpr std::array<const char*, 5> kByNames = {"account", "user", "partition", "qos", "name"};

const std::string& KeyOf(const JobView& job, ReportBy by) {
  switch (by) {
    case ReportBy::kAccount:
      return job.account;
    case ReportBy::kUser:
      return job.user;
    case ReportBy::kPartition:
      return job.partition;
    case ReportBy::kQos:
      return job.qos;
    case ReportBy::kName:
      return job.name;
  }
  return job.account;
}

double Seconds(Duration duration) {
  return static_cast<double>(duration.count()) / 1000;
}

bool HasFailed(const JobView& job) {
  return IsTerminal(job.state) && !IsSuccess(job.state) && !IsCancelled(job.state);
}

void Count(const JobView& job, const UsageWindow& window, UsageRow& row) {
  ++row.jobs;
  row.failed += HasFailed(job) ? 1U : 0U;
  const double seconds = Seconds(HeldTime(job, window));
  const double cpu_seconds = seconds * job.cpus;
  row.cpu_seconds += cpu_seconds;
  row.gpu_seconds += seconds * job.gpus;
  row.memory_mib_seconds +=
      seconds * static_cast<double>(job.memory.value()) / static_cast<double>(kMebibyte.value());
  if (IsMeasured(job.usage)) {
    // What processes did is known for the whole of a job alone: in the window, its even share.
    const Time end = job.end_time == kNoTime ? window.end : job.end_time;
    const double whole = Seconds(HeldTime(job, {job.start_time, end}));
    row.measured_cpu_seconds += cpu_seconds;
    row.worked_cpu_seconds += whole <= 0 ? 0 : Seconds(CpuTime(job.usage)) * seconds / whole;
  }
}

// REQUIRES: sorted and not empty.
Duration Rank(const std::vector<Duration>& sorted, std::size_t per_cent) {
  const std::size_t rank = (sorted.size() * per_cent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

std::optional<ReportBy> ReadReportBy(std::string_view word) {
  const auto* const found = std::find(kByNames.begin(), kByNames.end(), word);
  return found == kByNames.end() ? std::nullopt
                                 : std::optional(static_cast<ReportBy>(found - kByNames.begin()));
}

const char* Name(ReportBy by) {
  return kByNames.at(static_cast<std::size_t>(by));
}

std::vector<UsageRow> TallyUsage(const std::vector<JobView>& jobs, ReportBy by,
                                 const UsageWindow& window) {
  std::map<std::string, UsageRow> groups;
  for (const JobView& job : jobs) {
    if (RanIn(job, window)) {
      Count(job, window, groups[KeyOf(job, by)]);
    }
  }
  std::vector<UsageRow> rows;
  rows.reserve(groups.size());
  for (auto& [name, row] : groups) {
    row.name = name;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const UsageRow& a, const UsageRow& b) {
    return std::pair(a.gpu_seconds, a.cpu_seconds) > std::pair(b.gpu_seconds, b.cpu_seconds);
  });
  return rows;
}

std::vector<WaitRow> TallyWaits(const std::vector<JobView>& jobs, ReportBy by,
                                const UsageWindow& window) {
  std::map<std::string, std::vector<Duration>> groups;
  for (const JobView& job : jobs) {
    if (job.start_time != kNoTime && job.start_time >= window.start &&
        job.start_time < window.end) {
      const Time asked = std::max(job.submit_time, job.begin_time);
      groups[KeyOf(job, by)].push_back(std::max(job.start_time - asked, Duration(0)));
    }
  }
  std::vector<WaitRow> rows;
  rows.reserve(groups.size());
  for (auto& [name, waits] : groups) {
    std::sort(waits.begin(), waits.end());
    rows.push_back(
        {name, waits.size(), Rank(waits, 50), Rank(waits, 90), Rank(waits, 99), waits.back()});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const WaitRow& a, const WaitRow& b) { return a.jobs > b.jobs; });
  return rows;
}

std::vector<LoadRow> TallyLoad(const std::vector<JobView>& jobs, const std::vector<NodeView>& nodes,
                               const UsageWindow& window, Duration every) {
  const auto cpus = static_cast<double>(OfferedAmount(nodes, "cpu"));
  const auto gpus = static_cast<double>(OfferedAmount(nodes, "gres/gpu"));
  std::vector<LoadRow> rows;
  for (Time start = window.start; start < window.end; start += every) {
    LoadRow row;
    row.period = {start, std::min(start + every, window.end)};
    row.cpu_offered = Seconds(row.period.end - row.period.start) * cpus;
    row.gpu_offered = Seconds(row.period.end - row.period.start) * gpus;
    rows.push_back(row);
  }
  for (const JobView& job : jobs) {
    if (!RanIn(job, window)) {
      continue;
    }
    const Time start = std::max(job.start_time, window.start);
    const Time end = job.end_time == kNoTime ? window.end : std::min(job.end_time, window.end);
    const auto first = static_cast<std::size_t>((start - window.start) / every);
    for (std::size_t i = first; i < rows.size() && rows[i].period.start < end; ++i) {
      const UsageWindow& period = rows[i].period;
      const double seconds = Seconds(HeldTime(job, period));
      rows[i].cpu_seconds += seconds * job.cpus;
      rows[i].gpu_seconds += seconds * job.gpus;
      rows[i].jobs += seconds / Seconds(period.end - period.start);
    }
  }
  return rows;
}

}  // namespace muster::cli
