// --propagate: limits by their names.

#include "agent/supervisor/user_space/process_limits.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "scheduler/runtime/program/resource_limits.h"

namespace muster::agent {
namespace {

TEST(ProcessLimits, EveryNameIsKnownAndOthersAreLeftOut) {
  std::vector<ProcessLimit> asked = {{"NOSUCH", 1}};
  for (const ResourceLimit& limit : kResourceLimits) {
    asked.push_back({limit.name, 7});
  }
  EXPECT_EQ(ProcessLimits(asked).size(), kResourceLimits.size());
}

TEST(ProcessLimits, NoLimitIsInfinity) {
  const std::vector<SessionTraits::Limit> limits =
      ProcessLimits({{"NOFILE", 1024}, {"CORE", UINT64_MAX}});
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[0].resource, RLIMIT_NOFILE);
  EXPECT_EQ(limits[0].value.rlim_cur, 1024U);
  EXPECT_EQ(limits[1].value.rlim_cur, RLIM_INFINITY);
}

}  // namespace
}  // namespace muster::agent
