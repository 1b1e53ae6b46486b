#include "scheduler/core/io_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "tests/unit/scheduler/core/builders.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

IoClaim Due(std::uint64_t job, std::int64_t at_risk, std::uint64_t bytes_per_second = 0) {
  return IoClaim{JobId(job), false, true, at_risk, bytes_per_second};
}

TEST(IoTurns, ThoseWhoWouldLoseMostWriteFirst) {
  const CheckpointPolicy two{.writers = 2, .bandwidth = Bytes()};
  EXPECT_THAT(WritersNow({Due(1, 10), Due(2, 30), Due(3, 20)}, two),
              ElementsAre(JobId(2), JobId(3)));
  EXPECT_THAT(WritersNow({Due(3, 10), Due(2, 10), Due(1, 10)}, two),
              ElementsAre(JobId(1), JobId(2)));
}

TEST(IoTurns, WhoWritesGoesOnHoweverMuchOthersWouldLose) {
  IoClaim writes = Due(9, 1);
  writes.writing = true;
  EXPECT_THAT(WritersNow({Due(1, 1000), writes}, {.writers = 1, .bandwidth = Bytes()}),
              ElementsAre(JobId(9)));
}

TEST(IoTurns, WhoIsNotDueHasNoTurn) {
  IoClaim later = Due(1, 1000);
  later.due = false;
  EXPECT_THAT(WritersNow({later}, {.writers = 1, .bandwidth = Bytes()}), IsEmpty());
}

TEST(IoTurns, NobodyOvertakesAWideOneThatWaitsForBandwidth) {
  const CheckpointPolicy policy{.writers = 0, .bandwidth = Bytes(10 * kGib)};
  EXPECT_THAT(WritersNow({Due(1, 30, 6 * kGib), Due(2, 20, 6 * kGib), Due(3, 10, kGib)}, policy),
              ElementsAre(JobId(1)));
  EXPECT_THAT(WritersNow({Due(1, 30, 6 * kGib), Due(2, 20, 4 * kGib), Due(3, 10, kGib)}, policy),
              ElementsAre(JobId(1), JobId(2)));
}

TEST(IoTurns, OneThatNeedsMoreThanThereIsWritesAlone) {
  EXPECT_THAT(WritersNow({Due(1, 30, 60 * kGib), Due(2, 20, kGib)},
                         {.writers = 0, .bandwidth = Bytes(10 * kGib)}),
              ElementsAre(JobId(1)));
}

TEST(IoTurns, BothLimitsHoldWhoeverAsks) {
  EXPECT_TRUE(rc::check([] {
    const CheckpointPolicy policy{.writers = *rc::gen::inRange<std::uint32_t>(0, 5),
                                  .bandwidth = Bytes(*rc::gen::inRange<std::uint64_t>(0, 30))};
    std::vector<IoClaim> claims;
    const auto count = *rc::gen::inRange<std::uint64_t>(0, 12);
    for (std::uint64_t job = 1; job <= count; ++job) {
      IoClaim claim =
          Due(job, *rc::gen::inRange<std::int64_t>(0, 50), *rc::gen::inRange<std::uint64_t>(0, 20));
      claim.due = *rc::gen::arbitrary<bool>();
      claims.push_back(claim);
    }
    const std::vector<JobId> writers = WritersNow(claims, policy);
    std::uint64_t used = 0;
    for (const JobId id : writers) {
      const IoClaim& claim = claims[id.value() - 1];
      RC_ASSERT(claim.due);
      used += claim.bytes_per_second;
    }
    RC_ASSERT(std::set<JobId>(writers.begin(), writers.end()).size() == writers.size());
    RC_ASSERT(policy.writers == 0 || writers.size() <= policy.writers);
    RC_ASSERT(policy.bandwidth.zero() || writers.size() <= 1 || used <= policy.bandwidth.value());
    const bool any_due =
        std::any_of(claims.begin(), claims.end(), [](const IoClaim& claim) { return claim.due; });
    RC_ASSERT(writers.empty() != any_due);  // somebody writes while anybody would
  }));
}

}  // namespace
}  // namespace muster
