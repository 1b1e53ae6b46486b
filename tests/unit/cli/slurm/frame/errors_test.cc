// What Slurm calls the controller's refusals.

#include "cli/slurm/frame/errors.h"

#include <gtest/gtest.h>

#include <sstream>

namespace muster::cli::slurm {
namespace {

TEST(SlurmErrors, AControllerThatIsNotThereIsSlurmsConnectFailure) {
  EXPECT_EQ(SlurmText(absl::UnavailableError("muster: no controller at unix:x")),
            "Unable to contact slurm controller (connect failure)");
  EXPECT_EQ(SlurmText(absl::DeadlineExceededError("")), "Socket timed out on send/recv operation");
}

TEST(SlurmErrors, AJobThatIsNotThereIsAnInvalidId) {
  EXPECT_EQ(SlurmText(absl::NotFoundError("job 7: not there")), "Invalid job id specified");
}

TEST(SlurmErrors, ARefusalWithoutSlurmsWordsKeepsOurs) {
  EXPECT_EQ(SlurmText(absl::FailedPreconditionError("the moon\nis full")), "the moon\\x0ais full");
}

TEST(SlurmErrors, AnErrorIsOneLineAfterTheCommandsName) {
  const Environment environment;
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(Fail({environment, "sbatch", {}, out, err}, "Unable to open file a\nb"), 1);
  EXPECT_EQ(err.str(), "sbatch: error: Unable to open file a\\x0ab\n");
}

}  // namespace
}  // namespace muster::cli::slurm
