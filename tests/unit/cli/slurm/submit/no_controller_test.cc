// What sbatch, srun, salloc and scancel say before, or without, a controller.

#include <gtest/gtest.h>

#include <sstream>

#include "cli/slurm/submit/salloc.h"
#include "cli/slurm/submit/sbatch.h"
#include "cli/slurm/submit/scancel.h"
#include "cli/slurm/submit/srun.h"

namespace muster::cli::slurm {
namespace {

// "CODE|STDOUT|STDERR"
std::string Say(int (*command)(const Call&), const char* name,
                const std::vector<std::string>& arguments) {
  const Environment environment(
      std::vector<std::string>{"MUSTER_CONTROLLER=unix:/not/there/controller.sock"});
  std::ostringstream out;
  std::ostringstream err;
  const int code = command({environment, name, arguments, out, err});
  return std::to_string(code) + "|" + out.str() + "|" + err.str();
}

TEST(NoController, IsSlurmsConnectFailure) {
  const std::string failure = "Unable to contact slurm controller (connect failure)\n";
  EXPECT_EQ(Say(RunSbatch, "sbatch", {"--wrap=true"}),
            "1||sbatch: error: Batch job submission failed: " + failure);
  EXPECT_EQ(Say(RunScancel, "scancel", {"7"}),
            "1||scancel: error: Kill job error on job id 7: " + failure);
  EXPECT_EQ(Say(RunScancel, "scancel", {"--me"}), "1||slurm_load_jobs error: " + failure);
  EXPECT_EQ(Say(RunSrun, "srun", {"--test-only", "true"}), "1||allocation failure: " + failure);
  EXPECT_EQ(Say(RunSalloc, "salloc", {"--no-shell"}),
            "1||salloc: error: Job submit/allocate failed: " + failure);
}

TEST(NoController, IsNotAskedWhenTheCommandLineIsWrong) {
  EXPECT_EQ(Say(RunSbatch, "sbatch", {"--foo"}), "1||sbatch: unrecognized option '--foo'\n");
  EXPECT_EQ(Say(RunSbatch, "sbatch", {"-n", "x", "--wrap=true"}),
            "1||sbatch: error: Invalid numeric value \"x\" for --ntasks.\n");
  EXPECT_EQ(Say(RunSbatch, "sbatch", {"--wrap=true", "job.sh"}),
            "1||sbatch: error: Script arguments not permitted with --wrap option\n");
  EXPECT_EQ(Say(RunScancel, "scancel", {}), "1||scancel: error: No job identification provided\n");
  EXPECT_EQ(Say(RunScancel, "scancel", {"abc"}), "1||scancel: error: Invalid job id abc\n");
  EXPECT_EQ(Say(RunScancel, "scancel", {"-s", "FOO", "7"}), "1||Unknown job signal: FOO\n");
  EXPECT_EQ(Say(RunScancel, "scancel", {"-u", "no such user"}),
            "1||scancel: error: Invalid user name: no such user\n");
  EXPECT_EQ(Say(RunSrun, "srun", {}), "1||srun: fatal: No command given to execute.\n");
  EXPECT_EQ(Say(RunSalloc, "salloc", {"-N", "x", "--no-shell"}),
            "1||salloc: error: \"x\" is not a valid node count\n");
}

TEST(NoController, IsNotNeededForVersionsAndLists) {
  EXPECT_EQ(Say(RunScancel, "scancel", {"-V"}), "0|slurm 24.05.8\n|");
  EXPECT_EQ(Say(RunSrun, "srun", {"--mpi=list"}),
            "0|MPI plugin types are...\n\tnone\n\tpmix\n\tpmi1\n|");
}

}  // namespace
}  // namespace muster::cli::slurm
