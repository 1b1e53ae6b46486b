#include "cli/slurm/accounts/job_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(JobNotes, JobsComeFromTheConditionAndTextsFromTheRest) {
  const JobNotes read = ReadJobNotes({"where", "JobID=7,9_3", "cluster=here", "set",
                                      "AdminComment=JS1:a=b", "newcomm=x"})
                            .value();
  EXPECT_THAT(read.jobs, ElementsAre(JobSelector{JobId(7), {}}, JobSelector{JobId(9), {3}}));
  EXPECT_EQ(read.clusters, "here");
  EXPECT_THAT(read.notes, ElementsAre(JobNote{"AdminComment", "JS1:a=b"}, JobNote{"Comment", "x"}));
  EXPECT_THAT(ReadJobNotes({"jobid=7", "set", "Comment="})->notes,
              ElementsAre(JobNote{"Comment", ""}))
      << "an empty text takes it away";
}

TEST(JobNotes, WhatIsWrongIsNamed) {
  const auto said = [](const std::vector<std::string>& words) {
    return std::string(ReadJobNotes(words).status().message());
  };
  EXPECT_THAT(said({"where", "jobid=7"}), HasSubstr("didn't give me anything to set"));
  EXPECT_THAT(said({"set", "comment=x"}), HasSubstr("jobid="));
  EXPECT_THAT(said({"jobid=x", "set", "comment=x"}), HasSubstr("Invalid job id specified: x"));
  EXPECT_THAT(said({"jobid=7", "set", "colour=red"}), HasSubstr("Unknown option: colour=red"));
  EXPECT_THAT(said({"jobid=7", "set", "co=red"}), HasSubstr("Unknown option: co=red"));
  EXPECT_THAT(said({"shape=round", "set", "comment=x"}),
              HasSubstr("Unknown condition: shape=round"));
}

}  // namespace
}  // namespace muster::cli::slurm
