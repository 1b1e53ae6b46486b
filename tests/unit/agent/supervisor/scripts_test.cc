// The site's prologs and epilogs through the real supervisor.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "agent/supervisor/scripts/script_run.h"
#include "tests/unit/agent/supervisor/attempt_fixture.h"
#include "tests/unit/agent/supervisor/control_client.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class ScriptsTest : public AttemptFixture {
 protected:
  // A script of the site's with that body.
  SiteScript Script(const std::string& name, const std::string& body, mode_t mode = 0755) {
    SiteScript script;
    script.program = state_ / name;
    std::ofstream(script.program) << "#!/bin/sh\n" << body << "\n";
    EXPECT_EQ(chmod(script.program.c_str(), mode), 0);
    return script;
  }
  // What scripts wrote down, one after the other.
  [[nodiscard]] std::string Notes() const { return Slurp(state_ / "notes"); }
  [[nodiscard]] std::string Note(const std::string& text) const {
    return "echo \"" + text + "\" >>" + (state_ / "notes");
  }
};

TEST_F(ScriptsTest, ThePrologGoesBeforeTheFirstProcessAndTheEpilogAfterTheLast) {
  Batch(Note("job") + "; (sleep 0.05; " + Note("left behind") + ") & exit 3");
  order_.scripts.prolog = Script("prolog", "sleep 0.1; " + Note("prolog"));
  order_.scripts.epilog = Script("epilog", Note("epilog"));
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.status.code, 3);
  EXPECT_EQ(end.node_fault, "");
  EXPECT_EQ(Notes(), "prolog\njob\nleft behind\nepilog\n");
}

TEST_F(ScriptsTest, AFailedPrologEndsTheAttemptBeforeItBeganAndBlamesTheNode) {
  Batch(Note("job"));
  order_.scripts.prolog =
      Script("prolog", "echo one; echo two; echo three; echo disk full >&2; exit 4");
  order_.scripts.epilog = Script("epilog", Note("epilog"));
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kPrologFailed);
  EXPECT_EQ(end.node_fault,
            "prolog " + order_.scripts.prolog.program + ": exit code 4: two | three | disk full");
  EXPECT_EQ(end.text, end.node_fault);
  EXPECT_THAT(Facts<RunStarted>(), IsEmpty());
  EXPECT_EQ(Notes(), "epilog\n") << "what the prolog began is cleared up";
}

TEST_F(ScriptsTest, AFailedEpilogBlamesTheNodeAndNotTheJob) {
  Batch("exit 0");
  order_.scripts.epilog = Script("epilog", "kill -9 $$");
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_TRUE(end.status.success());
  EXPECT_THAT(end.node_fault, MatchesRegex("epilog .*: killed by signal 9"));
}

TEST_F(ScriptsTest, AScriptThatHangsIsEndedWithAllThatItStarted) {
  Batch(Note("job"));
  order_.scripts.prolog =
      Script("prolog", "trap '' TERM; echo waits for storage; sleep 1000 & wait; wait; sleep 1000");
  order_.scripts.prolog.time_limit = Duration(200);
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kPrologFailed);
  EXPECT_THAT(end.node_fault, MatchesRegex("prolog .*: took longer than 0.2 s: waits for storage"));
  EXPECT_EQ(Notes(), "");
}

TEST_F(ScriptsTest, AScriptThatIsNotThereBlamesTheNode) {
  Batch(Note("job"));
  order_.scripts.prolog.program = state_ / "nowhere";
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kPrologFailed);
  EXPECT_THAT(end.node_fault, HasSubstr("nowhere: No such file or directory"));
  EXPECT_EQ(Notes(), "");
}

TEST_F(ScriptsTest, AScriptThatRemovesItselfRunsOnce) {
  Batch(Note("job"));
  order_.scripts.prolog = Script("prolog", Note("prolog") + "; rm \"$0\"");
  EXPECT_EQ(RunToEnd().cause, EndCause::kExited);
  EXPECT_EQ(Notes(), "prolog\njob\n");
}

TEST_F(ScriptsTest, AScriptThatOthersMayWriteIsNotRun) {
  Batch(Note("job"));
  order_.scripts.prolog = Script("prolog", Note("prolog"), 0777);
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kPrologFailed);
  EXPECT_THAT(end.node_fault, HasSubstr("others may change it"));
  EXPECT_EQ(Notes(), "");
}

TEST_F(ScriptsTest, NothingThatAUserSaidIsInAScriptsEnvironment) {
  Batch("true");
  for (const char* bad :
       {"LD_PRELOAD=/tmp/evil.so", "LD_LIBRARY_PATH=/tmp", "BASH_ENV=/tmp/evil", "ENV=/tmp/evil",
        "PATH=/tmp/evil", "IFS=x", "PYTHONPATH=/tmp", "PERL5LIB=/tmp", "TMPDIR=/tmp/evil",
        "GCONV_PATH=/tmp", "BASH_FUNC_x%%=() { :; }", "MUSTER_JOB_USER=root"}) {
    order_.launch.program.environment.emplace_back(bad);
  }
  order_.launch.spec.name = "$(id)'; \"x\nPATH=evil";
  order_.scripts.prolog = Script("prolog", "env >" + (state_ / "env") + "; cat >" +
                                               (state_ / "input") + "; pwd >" + (state_ / "pwd"));
  EXPECT_EQ(RunToEnd().cause, EndCause::kExited);
  const std::string environment = Slurp(state_ / "env");
  for (const char* bad : {"evil", "LD_", "BASH_", "PYTHON", "PERL", "GCONV", "IFS=", "id)"}) {
    EXPECT_THAT(environment, Not(HasSubstr(bad)));
  }
  EXPECT_THAT(environment, HasSubstr("PATH=/usr/sbin:/usr/bin:/sbin:/bin\n"));
  EXPECT_THAT(environment, HasSubstr("MUSTER_JOB_ID=7\n"));
  EXPECT_THAT(environment, HasSubstr("SLURM_JOB_ID=7\n"));
  EXPECT_THAT(environment, HasSubstr("MUSTER_SCRIPT=prolog\n"));
  EXPECT_THAT(environment, HasSubstr("MUSTER_NODE_NAME=node1\n"));
  EXPECT_EQ(Slurp(state_ / "pwd"), "/\n");
  EXPECT_THAT(Slurp(state_ / "input"), HasSubstr("\nname=$(id)'; \"x\\nPATH=evil\n"));
}

TEST_F(ScriptsTest, AJobThatIsCancelledInItsPrologIsClearedUpAndBlamesNobody) {
  Batch(Note("job"));
  order_.scripts.prolog = Script("prolog", Note("prolog") + "; sleep 1000");
  order_.scripts.epilog = Script("epilog", Note("epilog"));
  Start();
  ASSERT_TRUE(Eventually([&] { return Notes() == "prolog\n"; }));
  TerminateOrder order;
  order.job = order_.launch.job;
  order.attempt = order_.launch.attempt;
  order.cause = EndCause::kCancelled;
  order.grace = Duration(50);
  ASSERT_TRUE(Eventually([&] { return SendTerminate(directory_, order).ok(); }));
  EXPECT_EQ(Wait(), 0);
  const RunEnded end = Facts<RunEnded>().at(0);
  EXPECT_EQ(end.cause, EndCause::kCancelled);
  EXPECT_EQ(end.node_fault, "");
  EXPECT_EQ(Notes(), "prolog\nepilog\n");
}

TEST_F(ScriptsTest, AnOrderToEndDoesNotEndTheEpilog) {
  Batch("exit 0");
  order_.scripts.epilog = Script("epilog", Note("begins") + "; sleep 0.5; " + Note("ends"));
  Start();
  ASSERT_TRUE(Eventually([&] { return Notes() == "begins\n"; }));
  TerminateOrder order;
  order.job = order_.launch.job;
  order.attempt = order_.launch.attempt;
  order.cause = EndCause::kCancelled;
  SendTerminate(directory_, order).IgnoreError();
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().at(0).cause, EndCause::kExited);
  EXPECT_EQ(Notes(), "begins\nends\n");
}

TEST_F(ScriptsTest, WhatAnEpilogLeavesBehindIsGone) {
  Batch("exit 0");
  order_.scripts.epilog = Script("epilog", "setsid sleep 1000 & echo $! >" + (state_ / "pid"));
  EXPECT_EQ(RunToEnd().cause, EndCause::kExited);
  const std::string pid = Slurp(state_ / "pid");
  ASSERT_THAT(pid, Not(IsEmpty()));
  EXPECT_NE(kill(static_cast<pid_t>(std::atoi(pid.c_str())), 0), 0);
}

TEST_F(ScriptsTest, AStepHasScriptsOfItsOwn) {
  RunJob({"/bin/sh", "-c", Note("rank")}, 1);
  order_.scripts.prolog = Script("prolog", Note("prolog"));
  order_.scripts.step_prolog = Script("step_prolog", Note("step prolog $MUSTER_STEP_ID"));
  order_.scripts.step_epilog = Script("step_epilog", Note("step epilog $MUSTER_STEP_ID"));
  order_.scripts.epilog = Script("epilog", Note("epilog"));
  EXPECT_EQ(RunToEnd().cause, EndCause::kExited);
  EXPECT_EQ(Notes(), "prolog\nstep prolog 1\nrank\nstep epilog 1\nepilog\n");
}

TEST_F(ScriptsTest, AFailedStepPrologEndsTheAttemptAndBlamesTheNode) {
  RunJob({"/bin/sh", "-c", Note("rank")}, 1);
  order_.scripts.step_prolog = Script("step_prolog", "exit 9");
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kPrologFailed);
  EXPECT_THAT(end.node_fault, StartsWith("step prolog "));
  EXPECT_EQ(Notes(), "");
}

TEST(LastLines, AreTheLastThreeEscapedAndShort) {
  EXPECT_EQ(LastLines("a\nb\n\nc\nd\n"), "b | c | d");
  EXPECT_EQ(LastLines("\x1b[2Jx"), "\\x1b[2Jx");
  EXPECT_EQ(LastLines(""), "");
  const std::string longest = LastLines(std::string(5000, 'y'));
  EXPECT_THAT(longest, StartsWith("…y"));
  EXPECT_LE(longest.size(), 250U);
}

}  // namespace
}  // namespace muster::agent
