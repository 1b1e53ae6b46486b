#include "daemon/controller/cycle/waiting_reasons.h"

#include <gtest/gtest.h>

namespace muster::daemon {
namespace {

LeftWaiting Left(std::uint64_t job, std::uint32_t count, ReasonKind kind) {
  LeftWaiting left;
  left.job = JobId(job);
  left.count = count;
  left.reason.kind = kind;
  left.priority = static_cast<std::uint32_t>(job);
  return left;
}

// A plan in queue order, which is not that of the ids.
WaitingReasons Reasons() {
  Plan plan;
  plan.waiting = {Left(20, 5, ReasonKind::kResources), Left(3, 1, ReasonKind::kJobHeldUser)};
  return WaitingReasons(std::make_shared<const Plan>(std::move(plan)));
}

TEST(WaitingReasons, FindsTheEntryThatHasTheJob) {
  const WaitingReasons reasons = Reasons();
  EXPECT_EQ(reasons.ReasonOf(JobId(3))->kind, ReasonKind::kJobHeldUser);
  EXPECT_EQ(reasons.ReasonOf(JobId(24))->kind, ReasonKind::kResources);
  EXPECT_EQ(reasons.PriorityOf(JobId(22)), 20U);
}

TEST(WaitingReasons, KnowsNothingOfAJobThatThePlanDidNotLeave) {
  const WaitingReasons reasons = Reasons();
  for (const std::uint64_t job : {2U, 4U, 25U}) {
    EXPECT_FALSE(reasons.ReasonOf(JobId(job)).has_value()) << job;
  }
  EXPECT_FALSE(WaitingReasons().ReasonOf(JobId(3)).has_value());
}

TEST(WaitingReasons, CountsThoseThatWaitForTheSame) {
  const WaitingReasons reasons = Reasons();
  EXPECT_EQ(reasons.AlikeFrom(JobId(21), 100), 4U);
  EXPECT_EQ(reasons.AlikeFrom(JobId(21), 2), 2U);
  EXPECT_EQ(reasons.AlikeFrom(JobId(10), 100), 10U) << "up to the next entry";
  EXPECT_EQ(reasons.AlikeFrom(JobId(30), 7), 7U) << "nothing more is known";
}

}  // namespace
}  // namespace muster::daemon
