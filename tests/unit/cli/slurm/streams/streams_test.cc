// sattach and sbcast where they need no controller, and where the tasks of a step are.

#include <gtest/gtest.h>

#include <sstream>

#include "cli/slurm/streams/sattach.h"
#include "cli/slurm/streams/sbcast.h"
#include "cli/slurm/streams/step_layout.h"
#include "tests/unit/cli/slurm/recorded.h"

namespace muster::cli::slurm {
namespace {

struct Said {
  int code = -1;
  std::string err;
};

Said RunLine(int (*command)(const Call&), const std::string& line,
             const std::vector<std::string>& environment = {}) {
  std::vector<std::string> entries = environment;
  entries.emplace_back("MUSTER_CONTROLLER=unix:/nowhere");
  const Environment own(entries);
  std::ostringstream out;
  std::ostringstream err;
  const Call call{own, line.substr(0, line.find(' ')), recorded::WordsOf(line), out, err};
  const int code = command(call);
  return {code, err.str()};
}

std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find('\n') + 1);
}

TEST(Sbcast, RefusesWhatIsIncompleteAsSlurmDoes) {
  for (const char* const line : {"sbcast", "sbcast a", "sbcast /etc/hosts /tmp/h"}) {
    const recorded::Answer theirs = recorded::Of("people_more", line);
    const Said ours = RunLine(RunSbcast, line);
    EXPECT_EQ(ours.code, theirs.code) << line;
    EXPECT_EQ(ours.err, FirstLine(theirs.err)) << line;
  }
  const recorded::Answer theirs =
      recorded::Of("people_more", "SLURM_JOB_ID=1 sbcast /nowhere /tmp/h");
  const Said ours = RunLine(RunSbcast, "sbcast /nowhere /tmp/h", {"SLURM_JOB_ID=1"});
  EXPECT_EQ(ours.code, theirs.code);
  EXPECT_EQ(ours.err, theirs.err);
}

TEST(Sattach, RefusesWhatIsNoStepAsSlurmDoes) {
  const recorded::Answer theirs = recorded::Of("people_more", "sattach abc");
  const Said ours = RunLine(RunSattach, "sattach abc");
  EXPECT_EQ(ours.code, theirs.code);
  EXPECT_EQ(ours.err, theirs.err);
  EXPECT_EQ(RunLine(RunSattach, "sattach").code, 1);
  EXPECT_EQ(RunLine(RunSattach, "sattach 1.0 2.0").err, "sattach: error: too many parameters\n");
}

TEST(StepLayout, NamesTheTasksOfEachNode) {
  JobDetail detail;
  detail.job.state = "RUNNING";
  StepView step;
  step.step = StepId(1);
  step.attempt = AttemptNumber(1);
  step.state = "RUNNING";
  step.tasks = 3;
  step.nodes = "n1,n2";
  detail.steps = {step};
  detail.attempts.resize(1);
  detail.attempts[0].number = AttemptNumber(1);
  for (const auto& [rank, node] : {std::pair{0U, "n1"}, std::pair{1U, "n1"}, std::pair{2U, "n2"}}) {
    RankView view;
    view.step = StepId(1);
    view.rank = rank;
    view.node = node;
    detail.attempts[0].ranks.push_back(view);
  }
  EXPECT_EQ(StepLayout(detail, StepId(1)).value(),
            "Job step layout:\n\t3 tasks, 2 nodes (n[1-2])\n\n"
            "\tNode 0 (n1), 2 task(s): 0 1\n\tNode 1 (n2), 1 task(s): 2\n");
  EXPECT_TRUE(absl::IsNotFound(StepLayout(detail, StepId(9)).status()));
  detail.job.state = "PENDING";
  EXPECT_TRUE(absl::IsFailedPrecondition(StepLayout(detail, StepId(1)).status()));
}

}  // namespace
}  // namespace muster::cli::slurm
