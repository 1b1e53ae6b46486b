#include "agent/questions/image_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::agent {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<std::string> kSubmitted = {
    "HOME=/home/mallory",
    "PATH=/home/mallory/bin",
    "LD_PRELOAD=/home/mallory/evil.so",
    "GCONV_PATH=/home/mallory",
    "RCLONE_PASSWORD_COMMAND=sh -c evil",
    "RCLONE_SFTP_SSH=evil",
    "RCLONE_CONFIG_LAB_TYPE=s3",
    "RCLONE_CONFIG_LAB_SSH=evil",
    "RCLONE_CONFIG_LAB_BEARER_TOKEN_COMMAND=evil",
    "rclone_config_lab_pass_command=evil",
    "https_proxy=http://proxy:3128",
    "SSL_CERT_FILE=/etc/lab.pem",
    "MUSTER_JOB_ID=7",
};

TEST(CopyEnvironment, RootsAgentPassesOnWhereRemotesAreAndNothingThatRunsAProgram) {
  const std::vector<std::string> variables =
      CopyEnvironment({}, CopiesAhead::kAll, kSubmitted, /*roots=*/true);
  for (const char* kept : {"HOME=/home/mallory", "RCLONE_CONFIG_LAB_TYPE=s3",
                           "https_proxy=http://proxy:3128", "SSL_CERT_FILE=/etc/lab.pem"}) {
    EXPECT_THAT(variables, Contains(kept));
  }
  for (const char* dropped :
       {"LD_", "GCONV_", "RCLONE_PASSWORD", "RCLONE_SFTP", "MUSTER_JOB", "RCLONE_CONFIG_LAB_SSH",
        "RCLONE_CONFIG_LAB_BEARER", "rclone_config"}) {
    EXPECT_THAT(variables, Not(Contains(StartsWith(dropped))));
  }
  EXPECT_THAT(variables, Contains(StartsWith("PATH=/usr")));
  EXPECT_THAT(variables, Not(Contains("PATH=/home/mallory/bin")));
}

TEST(CopyEnvironment, AUsersOwnAgentPassesOnAllButALaunchs) {
  const std::vector<std::string> variables =
      CopyEnvironment({}, CopiesAhead::kAll, kSubmitted, /*roots=*/false);
  EXPECT_THAT(variables, Contains("PATH=/home/mallory/bin"));
  EXPECT_THAT(variables, Not(Contains(StartsWith("MUSTER_JOB"))));
}

TEST(CopyEnvironment, ForPathsNoRemoteIsNamed) {
  EXPECT_THAT(CopyEnvironment({}, CopiesAhead::kPaths, kSubmitted, /*roots=*/true),
              Not(Contains(StartsWith("RCLONE_"))));
}

}  // namespace
}  // namespace muster::agent
