#include "agent/pam/module_options.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

TEST(ModuleOptionsTest, WithoutWordsWhoHasNoJobStaysOutAndRootDoesNot) {
  const ModuleOptions options = ParseModuleOptions({});
  EXPECT_EQ(options.state, "/var/lib/muster-agent");
  EXPECT_TRUE(options.deny_without_job);
  EXPECT_FALSE(options.deny_with_several);
  EXPECT_TRUE(options.deny_on_failure);
  EXPECT_TRUE(options.ignore_root);
  EXPECT_EQ(options.mistake, "");
}

TEST(ModuleOptionsTest, EachWordChangesItsOwn) {
  const ModuleOptions options =
      ParseModuleOptions({"state=/srv/agent", "action_no_jobs=ignore", "action_unknown=deny",
                          "action_generic_failure=ignore", "ignore_root=0"});
  EXPECT_EQ(options.state, "/srv/agent");
  EXPECT_FALSE(options.deny_without_job);
  EXPECT_TRUE(options.deny_with_several);
  EXPECT_FALSE(options.deny_on_failure);
  EXPECT_FALSE(options.ignore_root);
  EXPECT_EQ(options.mistake, "");
}

TEST(ModuleOptionsTest, TheFirstMistakeIsTold) {
  EXPECT_EQ(ParseModuleOptions({"action_no_jobs=allow", "x"}).mistake,
            "action_no_jobs=allow: say action_no_jobs=deny or ignore");
  EXPECT_EQ(ParseModuleOptions({"ignore_root"}).mistake, "ignore_root: say ignore_root=1 or 0");
  EXPECT_EQ(ParseModuleOptions({"state=agent"}).mistake, "state=agent: no absolute path");
  EXPECT_EQ(ParseModuleOptions({"Ignore_root=1"}).mistake,
            "Ignore_root=1: no option of pam_muster; there are state=, action_no_jobs=, "
            "action_unknown=, action_generic_failure= and ignore_root=");
}

}  // namespace
}  // namespace muster::agent
