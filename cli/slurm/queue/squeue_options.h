#pragma once

// The command line of squeue as what it asks for.
//
// Pure. Invariant: states are canonical names; where none was asked for, those of jobs that wait or
// run.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/query/job_choice.h"
#include "cli/frame/environment.h"
#include "cli/slurm/format/percent_format.h"
#include "cli/slurm/frame/words.h"
#include "cli/slurm/queue/job_fields.h"

namespace muster::cli::slurm {

std::span<const Row> SqueueRows();

struct SqueueRequest {
  JobChoice choice;
  bool document = false;  // --json
  bool header = true;
  bool each_element = false;  // --array
  bool start = false;
  bool with_date = false;             // --long
  bool steps = false;                 // --steps: those that run, of the jobs that are chosen
  std::vector<std::string> step_ids;  // "7.1"; empty: all
  PercentFormat step_format;
  std::string prefix;
  std::vector<JobColumn> columns;
  std::vector<std::string> sort;  // "P", "-i"
  unsigned pause_s = 0;           // --iterate; 0: once
  std::string clusters;
  std::vector<std::string> warnings;  // lines for stderr that are no failure
};

// InvalidArgument: a line for stderr without the command's name.
absl::StatusOr<SqueueRequest> ReadSqueue(const Words& words, const Environment& environment);

}  // namespace muster::cli::slurm
