// A job of another user in a PAM session, with the real libpam and its modules.
#include "agent/supervisor/launch/pam_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/unit/agent/supervisor/attempt_fixture.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kName = "nobody";

class PamSessionTest : public AttemptFixture {
 protected:
  void SetUp() override {
    const passwd* const entry = getpwnam(kName);  // NOLINT(concurrency-mt-unsafe): one thread
    if (geteuid() != 0 || entry == nullptr) {
      GTEST_SKIP() << "SKIPPED: only root can open a session for another user";
    }
    order_.launch.spec.user = {.uid = entry->pw_uid, .gid = 0, .name = kName};
    ASSERT_EQ(chown(work_.path().c_str(), entry->pw_uid, entry->pw_gid), 0);
    environment_ = {std::string(kPamService) + "=" + service_};
  }
  // What a session of the service is.
  void Service(const std::string& lines) { std::ofstream(service_) << lines; }
  // A file beside it.
  std::string File(const std::string& name, const std::string& text) {
    const std::string path = state_ / name;
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), 0755), 0);
    return path;
  }

  const std::string service_ = state_ / "muster-test";
};

TEST_F(PamSessionTest, LimitsAndVariablesAreTheJobsAndNotTheSupervisors) {
  const std::string limits =
      File("limits.conf", "* soft nofile 123\n* hard nofile 456\n* hard core 0\n* - priority 5\n");
  const std::string variables =
      File("env.conf",
           "SCRATCH DEFAULT=/scratch/here\nBROUGHT DEFAULT=by-pam\nSLURM_JOB_ID DEFAULT=1\n");
  Service("session required pam_limits.so conf=" + limits +
          "\nsession required pam_env.so readenv=0 conffile=" + variables + "\n");
  Batch(
      "ulimit -Sn; ulimit -Hn; ulimit -Hc; nice; echo $SCRATCH $BROUGHT $SLURM_JOB_ID; grep 'open "
      "files' "
      "/proc/$PPID/limits | tr -s ' '");
  order_.launch.program.environment.emplace_back("BROUGHT=along");
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kExited) << end.text;
  EXPECT_THAT(Output(), HasSubstr("123\n456\n0\n5\n/scratch/here along 7\n"));
  EXPECT_THAT(Output(), Not(HasSubstr("Max open files 123"))) << "the supervisor's own";
}

TEST_F(PamSessionTest, ARanksLimitsAreTheSessionsToo) {
  Service("session required pam_limits.so conf=" + File("limits.conf", "* - nofile 321\n") + "\n");
  RunJob({"sh", "-c", "ulimit -n"}, 2);
  order_.launch.program.stdout_path = "ranks.out";
  EXPECT_EQ(RunToEnd().status.code, 0);
  EXPECT_EQ(Slurp(work_ / "ranks.out"), "321\n321\n");
}

TEST_F(PamSessionTest, ItIsOpenedAfterThePrologAndClosedOnceAfterTheEpilog) {
  const std::string notes = state_ / "notes";
  const std::string note =
      File("note", "#!/bin/sh\necho \"$PAM_TYPE $PAM_USER $(id -u)\" >>" + notes + "\n");
  Service("session required pam_exec.so " + note + "\n");
  order_.scripts.prolog.program = File("prolog", "#!/bin/sh\necho prolog >>" + notes + "\n");
  order_.scripts.epilog.program = File("epilog", "#!/bin/sh\necho epilog >>" + notes + "\n");
  Batch("true");
  EXPECT_EQ(RunToEnd().cause, EndCause::kExited);
  EXPECT_EQ(Slurp(notes), "prolog\nopen_session nobody 0\nepilog\nclose_session nobody 0\n");
}

TEST_F(PamSessionTest, ARefusedSessionIsTheJobsEndAndNoFaultOfTheNode) {
  Service("session required pam_echo.so no jobs on Sundays\nsession required pam_deny.so\n");
  Batch("touch ran");
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(end.text, HasSubstr("opens no session for user nobody: "));
  EXPECT_THAT(end.text, HasSubstr("no jobs on Sundays"));
  EXPECT_EQ(end.text.find('\n'), std::string::npos);
  EXPECT_EQ(end.node_fault, "");
  EXPECT_NE(access((work_ / "ran").c_str(), F_OK), 0);
}

TEST_F(PamSessionTest, AServiceThatIsNotThereOpensNone) {
  Batch("touch ran");
  EXPECT_EQ(RunToEnd().cause, EndCause::kLaunchFailed);
  EXPECT_NE(access((work_ / "ran").c_str(), F_OK), 0);
}

TEST_F(PamSessionTest, RootsOwnJobHasNone) {
  Service("session required pam_deny.so\n");
  order_.launch.spec.user = {.uid = 0, .gid = 0, .name = "root"};
  Batch("true");
  EXPECT_EQ(RunToEnd().cause, EndCause::kExited);
}

TEST(SessionVariables, WhatTheJobHasGoesBefore) {
  std::vector<std::string> environment = {"A=1", "AB=2"};
  AddSessionVariables({"A=9", "B=3"}, &environment);
  EXPECT_THAT(environment, ElementsAre("A=1", "AB=2", "B=3"));
}

}  // namespace
}  // namespace muster::agent
