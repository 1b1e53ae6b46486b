#pragma once

// What srun asks for inside a job: the values of a step, from its options and the job's variables.
//
// A step has what its options say of the job that it is in, so that what only a job can ask for
// falls away. Invariant: every name of the result is an option that a step of `muster run` takes.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"
#include "cli/slurm/frame/words.h"

namespace muster::cli::slurm {

// The environment by which `muster run` finds the job: the one that `job` (--jobid) names, else
// that of SLURM_JOB_ID; without both there is none.
Environment InJob(const Environment& environment, const std::string& job);

// True for the daemons of Open MPI, PRRTE and MPICH, which start ranks themselves.
bool IsLauncher(const std::string& program);

// `values`: the command line's, as a job's. `launcher`: the step only starts others, and takes
// nothing from them. InvalidArgument is Slurm's line.
absl::StatusOr<std::map<std::string, std::string>> StepValues(
    std::map<std::string, std::string> values, const Environment& environment, bool launcher);

// A variable that gives srun an option. Those by which a job tells what it asked for, which its
// steps have anyway, count only outside of jobs.
struct SrunVariable {
  const char* name;
  const char* option;
  bool in_job;
};
std::span<const SrunVariable> SrunVariables();

// The options that SLURM_… variables give, as if they stood before those of the command line. In a
// job what only describes the job itself is passed over.
std::vector<GivenWord> WordsOfVariables(const Environment& environment, bool in_job);

}  // namespace muster::cli::slurm
