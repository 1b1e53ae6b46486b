#include "cli/report/report_tally.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/time/civil_time.h"
#include "cli/page/quantity.h"
#include "scheduler/base/contains.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {
namespace {

constexpr std::array<const char*, 7> kByNames = {"account", "user",  "partition", "qos",
                                                 "name",    "month", "day"};

std::string NameOfPeriod(Time time, ReportBy by, absl::TimeZone zone) {
  return absl::FormatTime(by == ReportBy::kMonth ? "%Y-%m" : "%Y-%m-%d",
                          absl::FromUnixMillis(time.time_since_epoch().count()), zone);
}

// When the day or month of that moment is over.
Time EndOfPeriod(Time time, ReportBy by, absl::TimeZone zone) {
  const absl::Time moment = absl::FromUnixMillis(time.time_since_epoch().count());
  const absl::Time end =
      by == ReportBy::kMonth
          ? absl::FromCivil(absl::CivilSecond(absl::ToCivilMonth(moment, zone) + 1), zone)
          : absl::FromCivil(absl::CivilSecond(absl::ToCivilDay(moment, zone) + 1), zone);
  return Time(Duration(absl::ToUnixMillis(end)));
}

// The shortest period of the keys.
std::optional<ReportBy> PeriodOf(const ReportKeys& keys) {
  for (const ReportBy period : {ReportBy::kDay, ReportBy::kMonth}) {
    if (Contains(keys.by, period)) {
      return period;
    }
  }
  return std::nullopt;
}

// The parts of the window that lie in one period each.
std::vector<UsageWindow> PartsOf(const UsageWindow& window, const ReportKeys& keys) {
  const std::optional<ReportBy> period = PeriodOf(keys);
  std::vector<UsageWindow> parts;
  for (Time start = window.start; start < window.end; start = parts.back().end) {
    parts.push_back({start, period.has_value()
                                ? std::min(EndOfPeriod(start, *period, keys.zone), window.end)
                                : window.end});
  }
  return parts;
}

std::string KeyOf(const JobView& job, ReportBy by, Time time, absl::TimeZone zone) {
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
    case ReportBy::kMonth:
    case ReportBy::kDay:
      return NameOfPeriod(time, by, zone);
  }
  return job.account;
}

GroupNames NamesOf(const JobView& job, const ReportKeys& keys, Time time) {
  GroupNames names;
  for (const ReportBy by : keys.by) {
    names.push_back(KeyOf(job, by, time, keys.zone));
  }
  return names;
}

double Seconds(Duration duration) {
  return static_cast<double>(duration.count()) / 1000;
}

bool HasFailed(const JobView& job) {
  return IsTerminal(job.state) && !IsSuccess(job.state) && !IsCancelled(job.state);
}

void CountAttempt(const AttemptUse& attempt, const UsageWindow& window, UsageRow& row) {
  const double seconds = Seconds(HeldTime(attempt, window));
  const double cpu_seconds = seconds * attempt.cpus;
  row.cpu_seconds += cpu_seconds;
  row.gpu_seconds += seconds * attempt.gpus;
  row.node_seconds += seconds * attempt.node_count;
  row.memory_mib_seconds += seconds * static_cast<double>(attempt.memory.value()) /
                            static_cast<double>(kMebibyte.value());
  // What processes did, and the cost with it, is known for the whole of an attempt alone: in the
  // window, its even share.
  const Time end = attempt.end_time == kNoTime ? window.end : attempt.end_time;
  const double whole = Seconds(HeldTime(attempt, {attempt.start_time, end}));
  const double share = whole <= 0 ? 0 : seconds / whole;
  row.cost += static_cast<double>(attempt.cost.value()) / kCostUnit * share;
  if (IsMeasured(attempt.usage)) {
    row.measured_cpu_seconds += cpu_seconds;
    row.worked_cpu_seconds += Seconds(CpuTime(attempt.usage)) * share;
  }
  if (EnergyOf(attempt.usage) > 0) {
    row.joules =
        row.joules.value_or(0) + static_cast<double>(EnergyOf(attempt.usage)) / 1000 * share;
  }
}

void Count(const JobView& job, const std::vector<AttemptUse>& attempts, const UsageWindow& window,
           UsageRow& row) {
  ++row.jobs;
  const bool ended = job.end_time > window.start && job.end_time <= window.end;
  row.failed += ended && HasFailed(job) ? 1U : 0U;
  row.currency = job.currency;
  for (const AttemptUse& attempt : attempts) {
    if (RanIn(attempt, window)) {
      CountAttempt(attempt, window, row);
    }
  }
}

// What it held of each period that it ran in.
void AddLoad(const AttemptUse& attempt, const UsageWindow& window, Duration every,
             std::vector<LoadRow>& rows) {
  if (!RanIn(attempt, window)) {
    return;
  }
  const Time start = std::max(attempt.start_time, window.start);
  const Time end =
      attempt.end_time == kNoTime ? window.end : std::min(attempt.end_time, window.end);
  const auto first = static_cast<std::size_t>((start - window.start) / every);
  for (std::size_t i = first; i < rows.size() && rows[i].period.start < end; ++i) {
    const UsageWindow& period = rows[i].period;
    const double seconds = Seconds(HeldTime(attempt, period));
    rows[i].cpu_seconds += seconds * attempt.cpus;
    rows[i].gpu_seconds += seconds * attempt.gpus;
    rows[i].jobs += seconds / Seconds(period.end - period.start);
  }
}

// REQUIRES: sorted and not empty.
Duration Rank(const std::vector<Duration>& sorted, std::size_t per_cent) {
  const std::size_t rank = (sorted.size() * per_cent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

std::optional<std::vector<ReportBy>> ReadReportKeys(const std::string& words) {
  std::vector<ReportBy> by;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(words, ','))) {
    const auto* const found = std::find(kByNames.begin(), kByNames.end(), word);
    const auto key = static_cast<ReportBy>(found - kByNames.begin());
    if (found == kByNames.end() || Contains(by, key)) {
      return std::nullopt;
    }
    by.push_back(key);
  }
  return by;
}

const char* Name(ReportBy by) {
  return kByNames.at(static_cast<std::size_t>(by));
}

std::vector<UsageRow> TallyUsage(const std::vector<JobView>& jobs, const ReportKeys& keys,
                                 const UsageWindow& window) {
  std::map<GroupNames, UsageRow> groups;
  const std::vector<UsageWindow> parts = PartsOf(window, keys);
  for (const JobView& job : jobs) {
    const std::vector<AttemptUse> attempts = AttemptsOf(job);
    if (attempts.empty()) {
      continue;
    }
    // The first part that it can lie in: the last that begins before it.
    auto part =
        std::upper_bound(parts.begin(), parts.end(), attempts.front().start_time,
                         [](Time start, const UsageWindow& each) { return start < each.end; });
    for (; part != parts.end(); ++part) {
      if (RanIn(attempts, *part)) {
        Count(job, attempts, *part, groups[NamesOf(job, keys, part->start)]);
      }
    }
  }
  std::vector<UsageRow> rows;
  rows.reserve(groups.size());
  for (auto& [names, row] : groups) {
    row.names = names;
    rows.push_back(std::move(row));
  }
  if (!PeriodOf(keys).has_value()) {
    std::stable_sort(rows.begin(), rows.end(), [](const UsageRow& a, const UsageRow& b) {
      return std::pair(a.gpu_seconds, a.cpu_seconds) > std::pair(b.gpu_seconds, b.cpu_seconds);
    });
  }
  return rows;
}

std::vector<WaitRow> TallyWaits(const std::vector<JobView>& jobs, const ReportKeys& keys,
                                const UsageWindow& window) {
  std::map<GroupNames, std::vector<Duration>> groups;
  for (const JobView& job : jobs) {
    if (job.start_time != kNoTime && job.start_time >= window.start &&
        job.start_time < window.end) {
      const Time asked = std::max(job.submit_time, job.begin_time);
      groups[NamesOf(job, keys, job.start_time)].push_back(
          std::max(job.start_time - asked, Duration(0)));
    }
  }
  std::vector<WaitRow> rows;
  rows.reserve(groups.size());
  for (auto& [names, waits] : groups) {
    std::sort(waits.begin(), waits.end());
    rows.push_back(
        {names, waits.size(), Rank(waits, 50), Rank(waits, 90), Rank(waits, 99), waits.back()});
  }
  if (!PeriodOf(keys).has_value()) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const WaitRow& a, const WaitRow& b) { return a.jobs > b.jobs; });
  }
  return rows;
}

std::vector<SizeRow> TallySizes(const std::vector<JobView>& jobs, const ReportKeys& keys,
                                const UsageWindow& window) {
  struct Size {
    SizeRow row;
    std::vector<Duration> times;
  };
  std::map<std::tuple<GroupNames, bool, std::uint32_t>, Size> sizes;
  const std::vector<UsageWindow> parts = PartsOf(window, keys);
  for (const JobView& job : jobs) {
    const std::vector<AttemptUse> attempts = AttemptsOf(job);
    const bool gpus = job.gpus > 0;
    const std::uint32_t most = std::bit_ceil(std::max(gpus ? job.gpus : job.cpus, 1U));
    for (const UsageWindow& part : parts) {
      if (!RanIn(attempts, part)) {
        continue;
      }
      Size& size = sizes[{NamesOf(job, keys, part.start), gpus, most}];
      Count(job, attempts, part, size.row.used);
      Duration held{0};
      for (const AttemptUse& attempt : attempts) {
        held += RanIn(attempt, part) ? HeldTime(attempt, part) : Duration(0);
      }
      size.times.push_back(held);
    }
  }
  std::vector<SizeRow> rows;
  for (auto& [key, size] : sizes) {
    std::sort(size.times.begin(), size.times.end());
    std::tie(size.row.used.names, size.row.gpus, size.row.most) = key;
    size.row.least = size.row.most <= 2 ? size.row.most : size.row.most / 2 + 1;
    size.row.median = Rank(size.times, 50);
    rows.push_back(size.row);
  }
  return rows;
}

std::vector<LoadRow> TallyLoad(const std::vector<JobView>& jobs, const std::vector<NodeView>& nodes,
                               const ReportKeys& keys, const UsageWindow& window, Duration every) {
  const auto cpus = static_cast<double>(OfferedAmount(nodes, "cpu"));
  const auto gpus = static_cast<double>(OfferedAmount(nodes, "gres/gpu"));
  std::vector<LoadRow> periods;
  for (Time start = window.start; start < window.end; start += every) {
    LoadRow row;
    row.period = {start, std::min(start + every, window.end)};
    row.cpu_offered = Seconds(row.period.end - row.period.start) * cpus;
    row.gpu_offered = Seconds(row.period.end - row.period.start) * gpus;
    periods.push_back(row);
  }
  std::map<GroupNames, std::vector<LoadRow>> groups;
  if (keys.by.empty()) {
    groups[{}] = periods;
  }
  for (const JobView& job : jobs) {
    std::vector<LoadRow>& rows =
        groups.try_emplace(NamesOf(job, keys, job.start_time), periods).first->second;
    for (const AttemptUse& attempt : AttemptsOf(job)) {
      AddLoad(attempt, window, every, rows);
    }
  }
  std::vector<LoadRow> rows;
  for (std::size_t i = 0; i < periods.size(); ++i) {
    for (auto& [names, of_group] : groups) {
      if (keys.by.empty() || of_group[i].jobs > 0) {
        of_group[i].names = names;
        rows.push_back(of_group[i]);
      }
    }
  }
  return rows;
}

}  // namespace muster::cli
