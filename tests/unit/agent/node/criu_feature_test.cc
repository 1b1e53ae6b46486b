#include "agent/node/criu_feature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr Duration kLimit = std::chrono::seconds(30);

class CriuFeature : public ::testing::Test {
 protected:
  // A program `criu` that does so.
  void Criu(const std::string& script) const {
    std::ofstream(tools_ / "criu") << "#!/bin/sh\n" << script << "\n";
    chmod((tools_ / "criu").c_str(), 0755);
  }
  TempDirectory tools_;
};

TEST_F(CriuFeature, OneThatSaysItWorksAndRestoresNothingDoesNot) {
  Criu("exit 0");
  const CriuFound found = FindCriu(tools_.path(), MUSTER_CRIU_PROGRAM, false, kLimit);
  EXPECT_EQ(found.path, "");
  EXPECT_THAT(found.why_not, HasSubstr("criu restore: "));
}

TEST_F(CriuFeature, WhyItDoesNotWorkIsToldInItsOwnWords) {
  Criu(
      "while [ $1 != --images-dir ]; do shift; done\n"
      "echo 'Error (criu/vdso.c:381): vdso: Unexpected rt vDSO area bounds' >$2/dump.log; exit 1");
  EXPECT_EQ(FindCriu(tools_.path(), MUSTER_CRIU_PROGRAM, false, kLimit).why_not,
            (tools_ / "criu") + ": criu dump: vdso: Unexpected rt vDSO area bounds");
}

TEST_F(CriuFeature, OneThatIsTooOldForOrdinaryUsersIsToldSo) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: only root can become another user";
  }
  Criu("for word; do [ $word != --unprivileged ] || exit 1; done");
  chmod(tools_.path().c_str(), 0755);
  EXPECT_THAT(FindCriu(tools_.path(), MUSTER_CRIU_PROGRAM, true, kLimit).why_not,
              HasSubstr("criu: as an ordinary user: criu dump: exit code 1: it may be too old"));
}

TEST_F(CriuFeature, OneThatDoesNotEndIsEnded) {
  Criu("exec sleep 1000");
  EXPECT_THAT(FindCriu(tools_.path(), MUSTER_CRIU_PROGRAM, false, Duration(1000)).why_not,
              EndsWith("it took longer than 1 s"));
}

TEST_F(CriuFeature, WithoutTheProgramThatRunsItThereIsNone) {
  Criu("exit 0");
  const CriuFound found = FindCriu(tools_.path(), "", false, kLimit);
  EXPECT_EQ(found.path, "");
  EXPECT_EQ(found.why_not, "muster-criu is not installed");
}

}  // namespace
}  // namespace muster::agent
