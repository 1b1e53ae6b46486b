#pragma once

// A command line of sbatch, srun or salloc as options of ours, by the table of Slurm's options.
//
// Thread promise: pure functions, but for files of nodes that an option names. Invariants: what is
// recorded is under "recorded", one a line; an error is Slurm's line without the command's name,
// "error: Invalid --time specification".

#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/request/slurm_option_table.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::cli::slurm {

// The rows of one of kSbatch, kSrun, kSalloc for ReadCommand.
std::vector<Row> RowsOf(unsigned command);

// By the names of our options, as Invocation::values. InvalidArgument is Slurm's line.
absl::StatusOr<std::map<std::string, std::string>> OwnValues(const Words& words, unsigned command);

// No node without a task: fewer tasks than nodes have as many nodes as tasks, and Slurm's warning of
// that, "Warning: can't run 1 processes on 2 nodes, setting nnodes to 1"; "" where nothing changes.
std::string FitNodes(std::map<std::string, std::string>* values);
std::string FitNodes(ResourceRequest* request);

// Slurm's line for what our readers said of an option, of a directive or of a request: "error: …".
std::string SlurmLine(const absl::Status& status, unsigned command);

// That line on stderr after the command's name; returns 1.
int FailAs(const Call& call, const absl::Status& status, unsigned command);

}  // namespace muster::cli::slurm
