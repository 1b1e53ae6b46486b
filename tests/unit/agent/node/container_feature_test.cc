#include "agent/node/container_feature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

TEST(ContainerFeature, WhatIsMissingIsNamed) {
  EXPECT_THAT(FindContainers("", "/bin/true").why_not, HasSubstr("is empty"));
  EXPECT_THAT(FindContainers("no-such-runtime", "/bin/true").why_not, HasSubstr("install it"));
  EXPECT_THAT(FindContainers("/bin/sh", "").why_not, HasSubstr("muster-container"));
}

TEST(ContainerFeature, ARuntimeIsFoundWhereTheSystemHasPrograms) {
  const ContainersFound found = FindContainers("sh", "/bin/true");
  if (found.runtime.empty()) {
    GTEST_SKIP() << "SKIPPED: " << found.why_not;
  }
  EXPECT_THAT(found.runtime, HasSubstr("/bin/sh"));
  EXPECT_EQ(FindContainers("/bin/sh", "/bin/true").runtime, "/bin/sh");
}

}  // namespace
}  // namespace muster::agent
