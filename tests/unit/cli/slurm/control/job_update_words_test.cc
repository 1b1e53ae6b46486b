// The keys of `scontrol update job` as options.

#include "cli/slurm/control/job_update_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

absl::StatusOr<JobUpdateWords> Read(const std::vector<std::string>& words) {
  return ReadJobUpdateWords(*ReadKeyValues(words));
}

TEST(JobUpdateWords, KeysOfAnyCaseBecomeOptionsWithValuesOfOurs) {
  EXPECT_THAT(Read({"JobId=7", "minmemorynode=4GB", "TIMELIMIT=0:7200", "Partition=a"})->values,
              ElementsAre(Pair("mem", "4G"), Pair("partition", "a"), Pair("time", "02:00:00")));
  EXPECT_THAT(Read({"Gres=gres:gpu:2,scratch:1", "Nice="})->values,
              ElementsAre(Pair("gres", "gpu:2,scratch:1"), Pair("nice", "100")));
}

TEST(JobUpdateWords, PriorityHoldsAndLetsGo) {
  const JobUpdateWords zero = *Read({"Priority=0"});
  EXPECT_EQ(zero.held, true);
  EXPECT_THAT(zero.values, IsEmpty());
  const JobUpdateWords nine = *Read({"Priority=9"});
  EXPECT_EQ(nine.held, false);
  EXPECT_THAT(nine.values, ElementsAre(Pair("priority", "9")));
}

TEST(JobUpdateWords, ALimitIsMovedInEitherSpelling) {
  EXPECT_EQ(Read({"TimeLimit=+30"})->moved_limit, "+30");
  EXPECT_EQ(Read({"TimeLimit-=15"})->moved_limit, "-15");
  EXPECT_EQ(Read({"TimeLimit=30"})->moved_limit, "");
}

TEST(JobUpdateWords, AnEndIsALimitToComeAndWhatWasWaitedIsForgottenByBeginningNow) {
  EXPECT_EQ(Read({"EndTime=2031-01-01T00:00:00"})->end, "2031-01-01T00:00:00");
  EXPECT_THAT(Read({"ResetAccrueTime"})->values, ElementsAre(Pair("begin", "now")));
  EXPECT_FALSE(ReadKeyValues({"JobId=7", "EndTime"}).ok());
}

TEST(JobUpdateWords, SharingAndRequeueAreFlags) {
  EXPECT_THAT(Read({"OverSubscribe=NO", "Requeue=0"})->values,
              ElementsAre(Pair("exclusive", ""), Pair("no-requeue", "")));
  EXPECT_THAT(Read({"OverSubscribe=YES", "Requeue=1"})->values,
              ElementsAre(Pair("exclusive", "no"), Pair("requeue", "")));
}

TEST(JobUpdateWords, FilesAndTheDirectoryAreOptionsOfSbatch) {
  EXPECT_THAT(Read({"StdOut=a.%j", "StdErr=b", "StdIn=/dev/null", "WorkDir=/data"})->values,
              ElementsAre(Pair("chdir", "/data"), Pair("error", "b"), Pair("input", "/dev/null"),
                          Pair("output", "a.%j")));
}

TEST(JobUpdateWords, AKeyMayBeCutShortWhereItMeansOneThing) {
  EXPECT_THAT(Read({"MinCPUs=2", "Part=a"})->values,
              ElementsAre(Pair("mincpus", "2"), Pair("partition", "a")));
  EXPECT_FALSE(Read({"MinMem=2"}).ok()) << "of each node or of each CPU";
  EXPECT_FALSE(Read({"Mail=END"}).ok());
}

TEST(JobUpdateWords, WhatHasNoEffectIsRecordedAndWhatIsUnknownRefused) {
  EXPECT_THAT(Read({"MailType=END", "WCKey=w"})->values,
              ElementsAre(Pair("recorded", "mail-type=END\nwckey=w")));
  EXPECT_EQ(Read({"Colour=red"}).status().message(),
            "Update of this parameter is not supported: Colour=red\nRequest aborted");
}

}  // namespace
}  // namespace muster::cli::slurm
