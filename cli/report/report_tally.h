#pragma once

// What a report says, reckoned from jobs: who used how much, how busy the cluster was, who waited.
//
// Pure. Invariants: (1) of a job only what lies in the window counts, and of a month or a day what
// lies in that; (2) groups come by what they used, the most first, then by name, and by time where
// they are of a month or a day; (3) a rank of a sorted list is the nearest one: p90 is the least
// wait that 90 % of the jobs do not exceed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cli/report/usage_tally.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// By what jobs are put together.
enum class ReportBy { kAccount, kUser, kPartition, kQos, kName, kMonth, kDay };
const char* Name(ReportBy by);

// By all of it, in that order.
struct ReportKeys {
  std::vector<ReportBy> by = {ReportBy::kAccount};
  absl::TimeZone zone = absl::UTCTimeZone();  // of months and days
};
// "account", "user,month"; nullopt for other words, for none, and for one twice.
std::optional<std::vector<ReportBy>> ReadReportKeys(const std::string& words);

using GroupNames = std::vector<std::string>;  // one for each key; a month is "2026-03"

struct UsageRow {
  GroupNames names = {};
  std::uint64_t jobs = 0;    // that ran
  std::uint64_t failed = 0;  // of these, ended otherwise than by success or a cancellation
  double cpu_seconds = 0;
  double gpu_seconds = 0;
  double memory_mib_seconds = 0;
  double node_seconds = 0;
  std::optional<double> joules = {};  // of those whose energy was measured; else nobody knows
  double cost = 0;
  std::string currency = {};        // of the cost; empty: nothing has a price
  double measured_cpu_seconds = 0;  // of those whose processes were measured
  double worked_cpu_seconds = 0;    // by these processes
};
std::vector<UsageRow> TallyUsage(const std::vector<JobView>& jobs, const ReportKeys& keys,
                                 const UsageWindow& window);

struct WaitRow {
  GroupNames names = {};
  std::uint64_t jobs = 0;  // that started in the window
  Duration median{0};
  Duration p90{0};
  Duration p99{0};
  Duration longest{0};
};
// From when a job was submitted, or might begin, to its start.
std::vector<WaitRow> TallyWaits(const std::vector<JobView>& jobs, const ReportKeys& keys,
                                const UsageWindow& window);

// Jobs that had about as much: GPUs, or CPUs where they had no GPU.
struct SizeRow {
  UsageRow used;
  bool gpus = false;
  std::uint32_t least = 0;  // 1, 2, 3, 5, 9, …
  std::uint32_t most = 0;   // 1, 2, 4, 8, 16, …
  Duration median{0};       // of how long they have run
};
// By the names of the keys, of which there may be none, then by CPUs, then by GPUs, the smallest
// first.
std::vector<SizeRow> TallySizes(const std::vector<JobView>& jobs, const ReportKeys& keys,
                                const UsageWindow& window);

struct LoadRow {
  UsageWindow period;
  GroupNames names = {};
  double cpu_seconds = 0;
  double cpu_offered = 0;
  double gpu_seconds = 0;
  double gpu_offered = 0;
  double jobs = 0;  // that ran at once, on average
};
// One row for each `every` of the window, the last one perhaps shorter; with keys one for each
// group that ran in it. REQUIRES: every is not zero; no key is a period.
std::vector<LoadRow> TallyLoad(const std::vector<JobView>& jobs, const std::vector<NodeView>& nodes,
                               const ReportKeys& keys, const UsageWindow& window, Duration every);

}  // namespace muster::cli
