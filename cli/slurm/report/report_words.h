#pragma once

// The command line of sreport as what it asks for.
//
// Pure. Invariants: `start` is before `end`; `tres` names what the accounting has of every job:
// cpu, mem, node, gres/gpu.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/slurm/frame/words.h"
#include "cli/slurm/history/sacct_options.h"
#include "scheduler/model/value/time.h"

namespace muster::cli::slurm {

std::span<const Row> SreportRows();

enum class ReportKind { kUtilization, kAccountsByUser, kUsersByAccount, kTopUsers, kJobSizes };

enum class UsageUnit { kSeconds, kMinutes, kHours };

struct ReportRequest {
  ReportKind kind = ReportKind::kUtilization;
  Time start = kNoTime;
  Time end = kNoTime;
  UsageUnit unit = UsageUnit::kMinutes;
  bool amounts = true;  // --tres shows amounts, shares of the total, or both
  bool shares = false;
  std::vector<std::string> tres = {"cpu"};
  bool names_tres = false;  // a column for it
  std::string format;
  std::vector<std::string> accounts;
  std::vector<std::string> users;
  std::size_t top = 10;
  std::vector<std::uint64_t> grouping = {50, 250, 500, 1000};
};

// InvalidArgument: a line for stderr as Slurm writes it.
absl::StatusOr<ReportRequest> ReadReport(const Words& words, const Asker& asker);

}  // namespace muster::cli::slurm
