#include "cli/compare/job_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

JobDetail Ended() {
  JobDetail detail;
  detail.job.id = JobId(12);
  detail.job.state = "COMPLETED";
  detail.script = "#!/bin/sh\ntrue\n";
  detail.batch = true;
  detail.record = {"git.commit=abc", "modules=gcc/12"};
  detail.attempts.emplace_back().cpus = 2;
  return detail;
}

TEST(JobDifference, NumbersAndMomentsAreNone) {
  JobDetail other = Ended();
  other.job.id = JobId(14);
  other.job.submit_time += std::chrono::hours(1);
  EXPECT_THAT(DifferencesOf(Ended(), other), IsEmpty());
}

TEST(JobDifference, EachIsNamedByItsGroupInOrder) {
  JobDetail other = Ended();
  other.script += "exit 3\n";
  other.record = {"git.commit=def", "seed.SEED=1"};
  other.request.gpus.count = 2;
  other.attempts.back().cpus = 4;
  other.job.state = "FAILED";
  other.job.exit_code = 3;
  std::vector<std::string> names;
  for (const Difference& difference : DifferencesOf(Ended(), other)) {
    names.push_back(
        difference.group + " " + difference.name + " " +
        (difference.name == "script" ? "" : difference.first + "|" + difference.second));
  }
  EXPECT_THAT(names,
              ElementsAre("program script ", "record git.commit abc|def", "record modules gcc/12|",
                          "record seed.SEED |1", "asked request.gpus.count 0|2", "got cpus 2|4",
                          "outcome exit 0|3", "outcome state COMPLETED|FAILED"));
}

TEST(JobDifference, AScriptThatIsKeptOfOneJobAloneIsNoDifference) {
  JobDetail other = Ended();
  other.script.clear();
  EXPECT_THAT(DifferencesOf(Ended(), other), IsEmpty());
}

TEST(JobDifference, LinesOfScriptsAreToldAsDiffDoes) {
  EXPECT_EQ(ScriptDifference("a\nb\nc\n", "a\nx\nc\nd\n"), "-b\n+x\n+d\n");
  EXPECT_EQ(ScriptDifference("a\n", "a\n"), "");
}

RC_GTEST_PROP(JobDifference, TheLinesLeadFromTheOneScriptToTheOther, ()) {
  const auto text = rc::gen::map(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4)),
                                 [](std::vector<int> lines) {
                                   std::string joined;
                                   for (const int line : lines) {
                                     joined += std::to_string(line) + "\n";
                                   }
                                   return joined;
                                 });
  const std::string one = *text;
  const std::string other = *text;
  long change = 0;
  const std::string difference = ScriptDifference(one, other);
  for (std::size_t i = 0; i < difference.size(); ++i) {
    if (i == 0 || difference[i - 1] == '\n') {
      change += difference[i] == '+' ? 1 : -1;
    }
  }
  const auto lines = [](const std::string& s) { return std::count(s.begin(), s.end(), '\n'); };
  RC_ASSERT(lines(other) - lines(one) == change);
  RC_ASSERT(difference.empty() == (one == other));
}

}  // namespace
}  // namespace muster::cli
