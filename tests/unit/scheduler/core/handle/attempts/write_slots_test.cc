#include "scheduler/core/handle/attempts/write_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Only;
using ::testing::SizeIs;

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

WriteClaim Due(std::uint64_t job, std::int64_t at_risk, std::uint64_t bytes_per_second = 0) {
  return WriteClaim{JobId(job), false, true, at_risk, bytes_per_second};
}

TEST(WriteSlots, ThoseWhoWouldLoseMostWriteFirst) {
  const CheckpointPolicy two{.writers = 2, .bandwidth = Bytes(), .quota = {}};
  EXPECT_THAT(WritersNow({Due(1, 10), Due(2, 30), Due(3, 20)}, two),
              ElementsAre(JobId(2), JobId(3)));
  EXPECT_THAT(WritersNow({Due(3, 10), Due(2, 10), Due(1, 10)}, two),
              ElementsAre(JobId(1), JobId(2)));
}

TEST(WriteSlots, WhoWritesGoesOnHoweverMuchOthersWouldLose) {
  WriteClaim writes = Due(9, 1);
  writes.writing = true;
  EXPECT_THAT(WritersNow({Due(1, 1000), writes}, {.writers = 1, .bandwidth = Bytes(), .quota = {}}),
              ElementsAre(JobId(9)));
}

TEST(WriteSlots, WhoIsNotDueHasNoSlot) {
  WriteClaim later = Due(1, 1000);
  later.due = false;
  EXPECT_THAT(WritersNow({later}, {.writers = 1, .bandwidth = Bytes(), .quota = {}}), IsEmpty());
}

TEST(WriteSlots, NobodyOvertakesAWideOneThatWaitsForBandwidth) {
  const CheckpointPolicy policy{.writers = 0, .bandwidth = Bytes(10 * kGib), .quota = {}};
  EXPECT_THAT(WritersNow({Due(1, 30, 6 * kGib), Due(2, 20, 6 * kGib), Due(3, 10, kGib)}, policy),
              ElementsAre(JobId(1)));
  EXPECT_THAT(WritersNow({Due(1, 30, 6 * kGib), Due(2, 20, 4 * kGib), Due(3, 10, kGib)}, policy),
              ElementsAre(JobId(1), JobId(2)));
}

TEST(WriteSlots, OneThatNeedsMoreThanThereIsWritesAlone) {
  EXPECT_THAT(WritersNow({Due(1, 30, 60 * kGib), Due(2, 20, kGib)},
                         {.writers = 0, .bandwidth = Bytes(10 * kGib), .quota = {}}),
              ElementsAre(JobId(1)));
}

TEST(WriteSlots, BothLimitsHoldWhoeverAsks) {
  EXPECT_TRUE(rc::check([] {
    const CheckpointPolicy policy{.writers = *rc::gen::inRange<std::uint32_t>(0, 5),
                                  .bandwidth = Bytes(*rc::gen::inRange<std::uint64_t>(0, 30)),
                                  .quota = {}};
    std::vector<WriteClaim> claims;
    const auto count = *rc::gen::inRange<std::uint64_t>(0, 12);
    for (std::uint64_t job = 1; job <= count; ++job) {
      WriteClaim claim =
          Due(job, *rc::gen::inRange<std::int64_t>(0, 50), *rc::gen::inRange<std::uint64_t>(0, 20));
      claim.due = *rc::gen::arbitrary<bool>();
      claims.push_back(claim);
    }
    const std::vector<JobId> writers = WritersNow(claims, policy);
    std::uint64_t used = 0;
    for (const JobId id : writers) {
      const WriteClaim& claim = claims[id.value() - 1];
      RC_ASSERT(claim.due);
      used += claim.bytes_per_second;
    }
    RC_ASSERT(std::set<JobId>(writers.begin(), writers.end()).size() == writers.size());
    RC_ASSERT(policy.writers == 0 || writers.size() <= policy.writers);
    RC_ASSERT(policy.bandwidth.zero() || writers.size() <= 1 || used <= policy.bandwidth.value());
    const bool any_due = std::any_of(claims.begin(), claims.end(),
                                     [](const WriteClaim& claim) { return claim.due; });
    RC_ASSERT(writers.empty() != any_due);  // somebody writes while anybody would
  }));
}

// Jobs of one node each that checkpoint every ten minutes, for ten seconds.
class WriteSlotsOfJobs : public ::testing::Test {
 protected:
  static constexpr Duration kInterval = std::chrono::minutes(10);
  static constexpr Duration kCost = std::chrono::seconds(10);

  JobId Start(std::uint32_t cpus) {
    const NodeId node = world_.AddNode("n" + std::to_string(jobs_.size() + 1));
    const JobId job = world_.Submit(testing::Tasks(1, cpus));
    world_.Schedule();
    world_.TellStarted(node, job);
    jobs_[job] = {node, 1};
    return job;
  }
  // It has committed a checkpoint just now.
  void Commit(JobId job) {
    auto& [node, index] = jobs_.at(job);
    CheckpointRecord record;
    record.count = ++index;
    record.begun = world_.now - kCost;
    record.committed = world_.now;
    record.cost = kCost;
    record.interval = kInterval;
    record.bytes = Bytes(kGib);
    world_.Tell(node, job, index, RunCheckpointed{world_.now, record});
  }
  Transition Tick(Duration later = Duration(0)) {
    world_.now += later;
    return world_.Take(TickHealth{});
  }
  // Two whose checkpoints are due; the first one has the slot.
  std::pair<JobId, JobId> TwoInTurn() {
    world_.config.checkpoint.writers = 1;
    const JobId first = Start(4);
    const JobId second = Start(1);
    Commit(first);
    Commit(second);
    Tick();
    Tick(kInterval);
    EXPECT_EQ(SlotOf(first), WriteSlot::kYours);
    return {first, second};
  }
  WriteSlot SlotOf(JobId job) const { return world_.state.FindJob(job)->attempt->advice.slot; }

  testing::World world_;
  std::map<JobId, std::pair<NodeId, std::uint64_t>> jobs_;
};

TEST_F(WriteSlotsOfJobs, WithoutLimitsEverybodyIsFree) {
  const JobId job = Start(1);
  Commit(job);
  EXPECT_THAT(Only<Advise>(Tick(kInterval)), IsEmpty());
  EXPECT_EQ(SlotOf(job), WriteSlot::kFree);
}

TEST_F(WriteSlotsOfJobs, TheOneWithMoreAtRiskGoesFirstAndTheOtherFollowsItsCommit) {
  world_.config.checkpoint.writers = 1;
  const JobId small = Start(1);
  const JobId large = Start(4);
  Commit(small);
  Commit(large);
  EXPECT_THAT(Only<Advise>(Tick()), SizeIs(2));
  EXPECT_EQ(SlotOf(small), WriteSlot::kWait);
  EXPECT_EQ(SlotOf(large), WriteSlot::kWait);
  Tick(kInterval);
  EXPECT_EQ(SlotOf(small), WriteSlot::kWait);
  EXPECT_EQ(SlotOf(large), WriteSlot::kYours);
  EXPECT_THAT(Only<Advise>(Tick(kCost)), IsEmpty());
  Commit(large);
  Tick(std::chrono::seconds(1));
  EXPECT_EQ(SlotOf(small), WriteSlot::kYours);
  EXPECT_EQ(SlotOf(large), WriteSlot::kWait);
}

TEST_F(WriteSlotsOfJobs, ASlotInWhichNothingIsWrittenEnds) {
  const auto [first, second] = TwoInTurn();
  Tick(std::chrono::minutes(2));
  EXPECT_EQ(SlotOf(first), WriteSlot::kWait);
  EXPECT_EQ(SlotOf(second), WriteSlot::kYours);
  Tick(kCost);
  Commit(second);
  Tick(std::chrono::seconds(1));
  EXPECT_EQ(SlotOf(first), WriteSlot::kYours);
}

TEST_F(WriteSlotsOfJobs, AJobThatEndsGivesItsSlotToTheNext) {
  const auto [first, second] = TwoInTurn();
  world_.TellEnded(jobs_.at(first).first, first, jobs_.at(first).second + 1);
  Tick(std::chrono::seconds(1));
  EXPECT_EQ(SlotOf(second), WriteSlot::kYours);
}

TEST_F(WriteSlotsOfJobs, LimitsThatAreTakenAwaySetEverybodyFree) {
  world_.config.checkpoint.writers = 1;
  const JobId job = Start(1);
  Commit(job);
  Tick();
  ASSERT_EQ(SlotOf(job), WriteSlot::kWait);
  world_.config.checkpoint.writers = 0;
  Tick();
  EXPECT_EQ(SlotOf(job), WriteSlot::kFree);
}

TEST_F(WriteSlotsOfJobs, WhoOwesAnAnswerToANoticeIsLeftAlone) {
  world_.config.checkpoint.writers = 1;
  const JobId job = Start(1);
  Commit(job);
  Tick();
  world_.Take(DrainNode{"n1", true, "disk"});
  const CheckpointAdvice told = world_.state.FindJob(job)->attempt->advice;
  ASSERT_EQ(told.notice, CheckpointNotice::kDrain);
  Tick(kInterval);
  EXPECT_EQ(world_.state.FindJob(job)->attempt->advice, told);
}

}  // namespace
}  // namespace muster::core
