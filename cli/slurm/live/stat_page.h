#pragma once

// What sstat prints: what running steps have used so far.
//
// Muster's nodes say what a job uses there, not what each of its steps does: the figures are those
// of the script's row, for all that it runs, or of the only step of a job without a script; other
// rows have none. Pure. Invariant: only running steps have rows.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/slurm/format/page_table.h"
#include "cli/slurm/history/account_fields.h"

namespace muster::cli::slurm {

// As wide as sstat is by itself.
inline constexpr const char* kStatFormat =
    "JobID,MaxVMSize,MaxVMSizeNode,MaxVMSizeTask,AveVMSize,MaxRSS,MaxRSSNode,MaxRSSTask,AveRSS,"
    "MaxPages,MaxPagesNode,MaxPagesTask,AvePages,MinCPU,MinCPUNode,MinCPUTask,AveCPU,NTasks,"
    "AveCPUFreq,ReqCPUFreqMin,ReqCPUFreqMax,ReqCPUFreqGov,ConsumedEnergy,MaxDiskRead,"
    "MaxDiskReadNode,MaxDiskReadTask,AveDiskRead,MaxDiskWrite,MaxDiskWriteNode,MaxDiskWriteTask,"
    "AveDiskWrite,TRESUsageInAve,TRESUsageInMax,TRESUsageInMaxNode,TRESUsageInMaxTask,"
    "TRESUsageInMin,TRESUsageInMinNode,TRESUsageInMinTask,TRESUsageInTot,TRESUsageOutAve,"
    "TRESUsageOutMax,TRESUsageOutMaxNode,TRESUsageOutMaxTask,TRESUsageOutMin,TRESUsageOutMinNode,"
    "TRESUsageOutMinTask,TRESUsageOutTot";

struct StatColumn {
  const char* name;
  int width;
};

// InvalidArgument is the name of the first that is no field of sstat.
absl::StatusOr<std::vector<StatColumn>> ReadStatFormat(std::string_view text);
std::string StatFieldHelp();

// Which of a job's steps have rows.
struct StatChoice {
  bool all = false;    // every step and the script; else the first step
  bool batch = false;  // the script alone
  bool has_step = false;
  StepId step = {};  // this one alone
};

// The values of the running steps of a running job, one row each; none: nothing of it runs.
std::vector<std::vector<std::string>> StatRows(const JobDetail& detail, const StatChoice& choice,
                                               const std::vector<StatColumn>& columns,
                                               const AccountScene& scene);

}  // namespace muster::cli::slurm
