#include "cli/request/job_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

TEST(JobEnvironment, IsReadInWhateverPiecesItComes) {
  const std::string text("A=1\0B=two\nlines\0C=\0\0D=behind the end\0", 37);
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    JobEnvironmentReader reader;
    bool whole = false;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      whole = reader.Take(std::string_view(text).substr(at, piece));
    }
    EXPECT_TRUE(whole);
    EXPECT_THAT(reader.entries(), ElementsAre("A=1", "B=two\nlines", "C=")) << piece;
  }
}

TEST(JobEnvironment, IsNotWholeBeforeItsEnd) {
  JobEnvironmentReader reader;
  EXPECT_FALSE(reader.Take(std::string_view("A=1\0B=2", 7)));
  EXPECT_FALSE(reader.Take(std::string_view("\0", 1)));
  EXPECT_TRUE(reader.Take(std::string_view("\0", 1)));
}

TEST(JobEnvironment, ACommandHereHasWhatIsSaidOfTheJobAndNotOfTheNode) {
  const Environment own({"PATH=/here", "MUSTER_STATE=/mine", "SLURM_CONF=/mine"});
  EXPECT_THAT(
      EnvironmentInside(
          own,
          {"PATH=/there", "PWD=/there", "MUSTER_JOB_ID=5", "SLURM_JOB_ID=5", "SLURM_PROCID=0",
           "MUSTER_TASK_PID=77", "MUSTER_NODE_NAME=node1", "SLURMD_NODENAME=node1",
           "MUSTER_CONTROLLER=unix:/there", "MUSTER_STAGED=/there"},
          "unix:/here"),
      UnorderedElementsAre("PATH=/here", "MUSTER_STATE=/mine", "SLURM_CONF=/mine",
                           "MUSTER_JOB_ID=5", "SLURM_JOB_ID=5", "MUSTER_CONTROLLER=unix:/here"));
}

TEST(JobEnvironment, OfAnEnclosingJobNothingIsLeft) {
  const Environment own({"MUSTER_JOB_ID=4", "SLURM_PROCID=1", "PMIX_RANK=1", "HOME=/here"});
  EXPECT_THAT(EnvironmentInside(own, {"MUSTER_JOB_ID=5"}, "host:1"),
              UnorderedElementsAre("HOME=/here", "MUSTER_JOB_ID=5", "MUSTER_CONTROLLER=host:1"));
}

}  // namespace
}  // namespace muster::cli
