// What a submission asks for: its options, its environment and its script together.

#include "cli/jobs/submit/submission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<Verb> kNoVerbs;

absl::StatusOr<JobRequest> Read(const Environment& environment,
                                const std::map<std::string, std::string>& values,
                                const std::string& directives) {
  const Invocation invocation{.environment = environment,
                              .verbs = kNoVerbs,
                              .values = values,
                              .arguments = {"job.sh", "a b", "c"}};
  return MakeSubmission(invocation, ParseAddress("unix:/x").value(),
                        {.name = "job.sh", .text = "#!/bin/sh\n" + directives + "true\n"});
}

TEST(Submission, TheCommandLineWinsOverTheEnvironmentAndThatOverTheScript) {
  const Environment environment(
      std::vector<std::string>{"SBATCH_JOB_NAME=variable", "SBATCH_WCKEY=w"});
  const std::string script = "#SBATCH -J script --ntasks=2\n#SBATCH --mail-type=END\n";
  EXPECT_EQ(Read(Environment(), {}, script)->spec.name, "script");
  const JobRequest request = Read(environment, {}, script).value();
  EXPECT_EQ(request.spec.name, "variable");
  EXPECT_EQ(request.spec.request.tasks, 2U);
  EXPECT_THAT(request.spec.recorded, ElementsAre("mail-type=END", "wckey=w"));
  EXPECT_EQ(Read(environment, {{"job-name", "line"}}, script)->spec.name, "line");
}

TEST(Submission, HasTheScriptAndItsArguments) {
  const JobRequest request = Read(Environment(), {}, "").value();
  EXPECT_EQ(request.program.script, "#!/bin/sh\ntrue\n");
  EXPECT_THAT(request.program.argv, ElementsAre("a b", "c"));
  EXPECT_EQ(request.spec.name, "job.sh");
}

TEST(Submission, AMistakeInTheScriptNamesItsLine) {
  EXPECT_THAT(std::string(Read(Environment(), {}, "#SBATCH -t soon\n").status().message()),
              HasSubstr("job.sh:2: --time: "));
}

TEST(Submission, HetjobBeginsAComponent) {
  const JobRequest request =
      Read(Environment(), {}, "#SBATCH -n 2\n#SBATCH hetjob\n#SBATCH -n 1\n").value();
  ASSERT_EQ(request.components.size(), 1U);
  EXPECT_EQ(request.components[0].spec.request.tasks, 1U);
}

}  // namespace
}  // namespace muster::cli
