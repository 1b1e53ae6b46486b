#include "agent/supervisor/scripts/script_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "tests/unit/agent/supervisor/attempt_parts.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

class ScriptRunsTest : public AttemptParts {
 protected:
  ScriptRunsTest() {
    before_reap_ = [this](pid_t pid) {
      owner_ = runs_.Find(pid);
      if (owner_ != nullptr) {
        owner_->BeforeReap();
      }
    };
    reaped_ = [this](pid_t, int status, const rusage&) {
      if (owner_ != nullptr) {
        owner_->Reaped(status);
      }
    };
  }

  // A script of the site's with that body.
  SiteScript Script(const std::string& name, const std::string& body) {
    SiteScript script;
    script.program = state_ / name;
    std::ofstream(script.program) << "#!/bin/sh\n" << body << "\n";
    EXPECT_EQ(chmod(script.program.c_str(), 0755), 0);
    return script;
  }
  bool TurnUntilHeard(const std::string& wanted) {
    TurnUntil([this, &wanted] { return heard_ == wanted; });
    EXPECT_EQ(heard_, wanted);
    return heard_ == wanted;
  }
  [[nodiscard]] std::string Fault() const { return end_.Report(Time(), Usage()).node_fault; }

  std::string heard_;  // p: the prolog succeeded, f: it failed, e: an epilog, r: recalled
  ScriptRuns runs_{{*loop_, log_, directory_, order_, end_},
                   {.on_prolog = [this] { heard_ += 'p'; },
                    .on_prolog_failed = [this] { heard_ += 'f'; },
                    .on_epilog = [this] { heard_ += 'e'; },
                    .on_recalled = [this] { heard_ += 'r'; }}};

 private:
  ScriptRun* owner_ = nullptr;
};

TEST_F(ScriptRunsTest, WithoutScriptsNothingIsWaitedFor) {
  EXPECT_FALSE(runs_.RunLast()) << "the prolog was not tried yet";
  runs_.RunProlog(0, nullptr);
  runs_.BeforeStep(StepId(1), [this] { heard_ += '1'; });
  runs_.AfterStep(StepId(1), [this] { heard_ += '2'; });
  EXPECT_EQ(heard_, "p12");
  EXPECT_FALSE(runs_.RunLast());
  EXPECT_EQ(Fault(), "");
}

TEST_F(ScriptRunsTest, AStepBeginsAfterItsPrologAndIsOverAfterItsEpilog) {
  order_.scripts.step_prolog = Script("before", "sleep 0.05");
  order_.scripts.step_epilog = Script("after", "sleep 0.05");
  runs_.RunProlog(0, nullptr);
  runs_.BeforeStep(StepId(1), [this] { heard_ += '1'; });
  EXPECT_EQ(heard_, "p");
  ASSERT_TRUE(TurnUntilHeard("p1"));
  runs_.AfterStep(StepId(1), [this] { heard_ += '2'; });
  EXPECT_EQ(heard_, "p1");
  ASSERT_TRUE(TurnUntilHeard("p12"));
}

TEST_F(ScriptRunsTest, AFailedPrologIsTheNodesFault) {
  order_.scripts.prolog = Script("prolog", "echo no disk; exit 4");
  runs_.RunProlog(0, nullptr);
  ASSERT_TRUE(TurnUntilHeard("f"));
  EXPECT_THAT(Fault(), HasSubstr("prolog: exit code 4: no disk"));
}

TEST_F(ScriptRunsTest, AStepWhosePrologFailsIsNotBegun) {
  order_.scripts.step_prolog = Script("before", "exit 1");
  runs_.RunProlog(0, nullptr);
  runs_.BeforeStep(StepId(1), [this] { heard_ += '1'; });
  ASSERT_TRUE(TurnUntilHeard("pf"));
  EXPECT_THAT(Fault(), HasSubstr("exit code 1"));
}

TEST_F(ScriptRunsTest, APrologThatFailsAsTheAttemptEndsIsNobodysFault) {
  order_.scripts.prolog = Script("prolog", "sleep 0.05; exit 4");
  runs_.RunProlog(0, nullptr);
  end_.Force(EndCause::kCancelled, "");
  ASSERT_TRUE(TurnUntilHeard("r"));
  EXPECT_EQ(Fault(), "");
}

TEST_F(ScriptRunsTest, EpilogsComeOneAfterTheOtherOnceTheJobIsOverAndTheAttemptsLast) {
  const std::string note = "echo $0 >> " + (state_ / "notes");
  order_.scripts.step_epilog = Script("after", note);
  order_.scripts.epilog = Script("epilog", note + "; exit 3");
  runs_.RunProlog(0, nullptr);
  end_.Force(EndCause::kCancelled, "");
  runs_.AfterStep(StepId(1), [this] { heard_ += '1'; });
  EXPECT_EQ(heard_, "p1") << "its epilog comes later";
  EXPECT_FALSE(end_.job_over());
  EXPECT_TRUE(runs_.RunLast());
  EXPECT_TRUE(runs_.RunLast()) << "it runs";
  EXPECT_TRUE(end_.job_over());
  ASSERT_TRUE(TurnUntilHeard("p1e"));
  EXPECT_FALSE(end_.job_over()) << "what it left is to be ended";
  EXPECT_TRUE(runs_.RunLast());
  ASSERT_TRUE(TurnUntilHeard("p1ee"));
  EXPECT_FALSE(runs_.RunLast());
  EXPECT_EQ(Slurp(state_ / "notes"), (state_ / "after") + "\n" + (state_ / "epilog") + "\n");
  EXPECT_THAT(Fault(), HasSubstr("exit code 3"));
}

}  // namespace
}  // namespace muster::agent
