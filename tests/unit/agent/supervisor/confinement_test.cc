#include "agent/supervisor/confinement.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tests/unit/agent/supervisor/attempt_fixture.h"

namespace muster::agent {
namespace {

class ConfinementTest : public AttemptFixture {
 protected:
  Confinement confinement_{directory_, order_};
};

TEST_F(ConfinementTest, AJobOfOurOwnUserRunsAsWeDoWhereTheNodeHasNoGroups) {
  order_.machine.enforced = true;
  ASSERT_TRUE(confinement_.Make(0).ok());
  EXPECT_EQ(confinement_.user(), nullptr);
  EXPECT_EQ(confinement_.cgroup(), nullptr);
  EXPECT_EQ(confinement_.mounts(), -1);
  EXPECT_EQ(ToText(confinement_.limits()), ToText(order_.limits));
  EXPECT_TRUE(confinement_.OpenSession().ok()) << "nobody wants one";
}

TEST_F(ConfinementTest, WhatCannotBeHeldIsSaid) {
  order_.machine.enforced = true;
  order_.cgroup = state_ / "nothing/group";
  ASSERT_TRUE(confinement_.Make(0).ok());
  EXPECT_EQ(confinement_.cgroup(), nullptr);
  EXPECT_EQ(ToText(confinement_.limits()),
            ToText(NoLimits("the control group " + order_.cgroup + " cannot be made")));
  order_.machine.enforced = false;
  order_.machine.why_not_enforced = "it is not this machine";
  ASSERT_TRUE(confinement_.Make(0).ok());
  EXPECT_EQ(ToText(confinement_.limits()), ToText(NoLimits("it is not this machine")));
}

TEST_F(ConfinementTest, NobodyElseMayReadOrRunTheScript) {
  Batch("exit 0");
  ASSERT_TRUE(confinement_.Make(0).ok());
  ASSERT_TRUE(confinement_.WriteScript().ok());
  EXPECT_EQ(Slurp(directory_.Script()), order_.launch.program.script);
  struct stat info = {};
  ASSERT_EQ(stat(directory_.Script().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
}

}  // namespace
}  // namespace muster::agent
