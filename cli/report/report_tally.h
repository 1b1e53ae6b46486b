#pragma once

// What a report says, reckoned from jobs: who used how much, how busy the cluster was, who waited.
//
// Pure. Invariants: (1) of a job only what lies in the window counts; (2) groups come by what they
// used, the most first, then by name; (3) a rank of a sorted list is the nearest one: p90 is the
// least wait that 90 % of the jobs do not exceed.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report/usage_tally.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// By what jobs are put together.
enum class ReportBy { kAccount, kUser, kPartition, kQos, kName };
// "account", "user", "partition", "qos", "name"; nullopt for other words.
std::optional<ReportBy> ReadReportBy(std::string_view word);
const char* Name(ReportBy by);

struct UsageRow {
  std::string name;
  std::uint64_t jobs = 0;
  std::uint64_t failed = 0;  // of these, ended otherwise than by success or a cancellation
  double cpu_seconds = 0;
  double gpu_seconds = 0;
  double memory_mib_seconds = 0;
  double measured_cpu_seconds = 0;  // of those whose processes were measured
  double worked_cpu_seconds = 0;    // by these processes
};
std::vector<UsageRow> TallyUsage(const std::vector<JobView>& jobs, ReportBy by,
                                 const UsageWindow& window);

struct WaitRow {
  std::string name;
  std::uint64_t jobs = 0;  // that started in the window
  Duration median{0};
  Duration p90{0};
  Duration p99{0};
  Duration longest{0};
};
// From when a job was submitted, or might begin, to its start.
std::vector<WaitRow> TallyWaits(const std::vector<JobView>& jobs, ReportBy by,
                                const UsageWindow& window);

struct LoadRow {
  UsageWindow period;
  double cpu_seconds = 0;
  double cpu_offered = 0;
  double gpu_seconds = 0;
  double gpu_offered = 0;
  double jobs = 0;  // that ran at once, on average
};
// One row for each `every` of the window, the last one perhaps shorter. REQUIRES: every is not
// zero.
std::vector<LoadRow> TallyLoad(const std::vector<JobView>& jobs, const std::vector<NodeView>& nodes,
                               const UsageWindow& window, Duration every);

}  // namespace muster::cli
