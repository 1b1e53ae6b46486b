#include "daemon/controller/job_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(JobSecretsTest, TheSecretOfAnAttemptOutlivesTheController) {
  TempDirectory directory;
  const std::string path = directory / "job.key";
  const std::string first = JobSecrets::Open(path).value().Of(JobId(7), AttemptNumber(1));
  EXPECT_THAT(first, MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(first.size(), 64U);
  EXPECT_EQ(JobSecrets::Open(path).value().Of(JobId(7), AttemptNumber(1)), first);
  struct stat file = {};
  ASSERT_EQ(stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
}

TEST(JobSecretsTest, EveryAttemptHasItsOwn) {
  TempDirectory directory;
  const JobSecrets secrets = JobSecrets::Open(directory / "job.key").value();
  EXPECT_NE(secrets.Of(JobId(7), AttemptNumber(1)), secrets.Of(JobId(7), AttemptNumber(2)));
  EXPECT_NE(secrets.Of(JobId(7), AttemptNumber(1)), secrets.Of(JobId(71), AttemptNumber(1)));
  const JobSecrets others = JobSecrets::Open(directory / "other.key").value();
  EXPECT_NE(secrets.Of(JobId(7), AttemptNumber(1)), others.Of(JobId(7), AttemptNumber(1)));
}

TEST(JobSecretsTest, AKeyThatIsCutShortIsRefusedWithItsMend) {
  TempDirectory directory;
  ASSERT_TRUE(WriteFileAtomically(directory / "job.key", "short").ok());
  EXPECT_THAT(std::string(JobSecrets::Open(directory / "job.key").status().message()),
              HasSubstr("remove the file"));
}

}  // namespace
}  // namespace muster::daemon
