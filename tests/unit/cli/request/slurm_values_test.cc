// Slurm's ways to write values.

#include "cli/request/slurm_values.h"

#include <gtest/gtest.h>

#include <fstream>
#include <utility>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

TEST(SlurmValues, TimeLimitsMayHaveMoreThanAMinutesSeconds) {
  const std::pair<const char*, const char*> cases[] = {{"10", "00:10:00"},
                                                       {"0:7200", "02:00:00"},
                                                       {"90:00", "01:30:00"},
                                                       {"72:00:00", "3-00:00:00"},
                                                       {"0-1:0:0", "01:00:00"},
                                                       {"2-3", "2-03:00:00"},
                                                       {"1-2:30", "1-02:30:00"},
                                                       {"1:61:61", "02:02:01"},
                                                       {"0", "UNLIMITED"},
                                                       {"-1", "UNLIMITED"},
                                                       {"UNLIMITED", "UNLIMITED"},
                                                       {"soon", "soon"},
                                                       {"1:2:3:4", "1:2:3:4"},
                                                       {"", ""},
                                                       {"1-", "1-"}};
  for (const auto& [value, ours] : cases) {
    EXPECT_EQ(SlurmTimeLimit(value), ours) << value;
  }
}

TEST(SlurmValues, SizesMayEndInB) {
  EXPECT_EQ(SlurmSize("4GB"), "4G");
  EXPECT_EQ(SlurmSize("300mb"), "300m");
  EXPECT_EQ(SlurmSize("1000"), "1000");
  EXPECT_EQ(SlurmSize("4B"), "4B");
  EXPECT_EQ(SlurmSize(""), "");
}

TEST(SlurmValues, MomentsHaveNamesAndHalvesOfDays) {
  const std::pair<const char*, const char*> cases[] = {{"teatime", "16:00"},
                                                       {"fika", "15:00"},
                                                       {"4PM", "16:00"},
                                                       {"12:30am", "00:30"},
                                                       {"9:05", "09:05"},
                                                       {"12/31/30", "2030-12-31"},
                                                       {"123130", "2030-12-31"},
                                                       {"1/2/30T9:00", "2030-01-02T09:00"},
                                                       {"2030-01-31T08:00", "2030-01-31T08:00"},
                                                       {"now+1hour", "now+1hour"},
                                                       {"xm", "xm"},
                                                       {"", ""}};
  for (const auto& [value, ours] : cases) {
    EXPECT_EQ(SlurmMoment(value), ours) << value;
  }
}

TEST(SlurmValues, TalkIsNoBinding) {
  EXPECT_EQ(SlurmBinding("verbose,cores"), "cores");
  EXPECT_EQ(SlurmBinding("q"), "");
  EXPECT_EQ(SlurmBinding("v,map_cpu:0,1,2"), "map_cpu:0,1,2");
  EXPECT_EQ(SlurmBinding("none"), "none");
  EXPECT_EQ(SlurmBinding("sort,local"), "local");
}

TEST(SlurmValues, DistributionsHaveAtMostTwoLevels) {
  EXPECT_EQ(SlurmDistribution("block:cyclic:fcyclic,Pack"), "block:cyclic");
  EXPECT_EQ(SlurmDistribution("cyclic,NoPack"), "cyclic");
  EXPECT_EQ(SlurmDistribution("plane=4"), "plane=4");
}

TEST(SlurmValues, NodesMayStandInAFile) {
  const TempDirectory directory;
  std::ofstream(directory / "nodes") << "n1 n2\nn[3-4],n7\n";
  EXPECT_EQ(SlurmNodes(directory / "nodes"), "n1,n2,n[3-4],n7");
  EXPECT_EQ(SlurmNodes("n[1-2]"), "n[1-2]");
  EXPECT_EQ(SlurmNodeFile("/not/there"), "/not/there");
}

}  // namespace
}  // namespace muster::cli
