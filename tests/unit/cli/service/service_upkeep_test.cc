#include "cli/service/service_upkeep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Duration kLostAfter = seconds(30);

class ServiceUpkeepTest : public ::testing::Test {
 protected:
  ServiceUpkeepTest() { Set(3); }

  void Set(int count) {
    service_.replicas.clear();
    for (int i = 0; i < count; ++i) {
      Add();
    }
  }
  void Add() {
    ServiceReplica replica;
    replica.id = JobId(next_);
    replica.label = absl::StrCat(next_++);
    replica.job_state = "RUNNING";
    replica.note.state = kReplicaReady;
    service_.replicas.push_back(replica);
  }
  UpkeepStep LookAfter(Duration time) {
    now_ += time;
    return upkeep_->Look(service_, Time(std::chrono::duration_cast<Duration>(now_ - SteadyTime())),
                         now_);
  }
  // What is added, and how much later than now.
  std::uint32_t AddedAfter(Duration most, Duration* after) {
    for (*after = Duration(0); *after <= most; *after += seconds(1)) {
      if (const std::uint32_t added = LookAfter(seconds(1)).add; added > 0) {
        return added;
      }
    }
    return 0;
  }
  static std::vector<std::string> LabelsOf(const UpkeepStep& step) {
    std::vector<std::string> labels;
    for (const ServiceReplica& replica : step.end) {
      labels.push_back(replica.label);
    }
    return labels;
  }

  ServiceNow service_{.replicas = {}, .terms = {.change = 1, .replicas = 3}};
  std::optional<ServiceUpkeep> upkeep_{std::in_place, kLostAfter};
  SteadyTime now_{minutes(10)};
  int next_ = 1;
};

TEST_F(ServiceUpkeepTest, AReplicaThatEndedIsReplacedOnceItHasBeenMissingForTwoSeconds) {
  EXPECT_EQ(LookAfter(seconds(1)).add, 0U);
  service_.replicas.erase(service_.replicas.begin());
  EXPECT_EQ(LookAfter(seconds(1)).add, 0U);
  EXPECT_EQ(LookAfter(seconds(1)).add, 0U);
  EXPECT_EQ(LookAfter(seconds(1)).add, 1U);
}

TEST_F(ServiceUpkeepTest, OneThatLeavesIsMissing) {
  service_.replicas[0].note.state = kReplicaLeaving;
  service_.replicas[1].job_state = "COMPLETING";
  LookAfter(seconds(1));
  EXPECT_EQ(LookAfter(seconds(2)).add, 2U);
}

TEST_F(ServiceUpkeepTest, WhatDoesNotLastIsAddedAfterLongerAndLongerPauses) {
  Set(2);
  std::vector<std::int64_t> pauses;
  for (int i = 0; i < 9; ++i) {
    Duration after{0};
    EXPECT_EQ(AddedAfter(minutes(10), &after), 1U);
    pauses.push_back(std::chrono::duration_cast<seconds>(after).count());
  }
  EXPECT_GE(pauses[1], 4);
  EXPECT_GE(pauses[3], 2 * pauses[2]);
  EXPECT_LE(pauses[8], 300);
  EXPECT_GE(pauses[8], 299);
}

TEST_F(ServiceUpkeepTest, AServiceThatWasWholeForAMinuteIsHelpedAtOnceAgain) {
  Set(2);
  Duration after{0};
  for (int i = 0; i < 5; ++i) {
    AddedAfter(minutes(10), &after);
  }
  Add();
  LookAfter(seconds(1));
  LookAfter(minutes(1));
  service_.replicas.pop_back();
  EXPECT_EQ(AddedAfter(minutes(10), &after), 1U);
  EXPECT_LE(after, seconds(3));
}

TEST_F(ServiceUpkeepTest, MoreThatAreAskedForAreAddedWithoutAPause) {
  Set(2);
  Duration after{0};
  for (int i = 0; i < 5; ++i) {
    AddedAfter(minutes(10), &after);
  }
  service_.terms.replicas = 5;
  EXPECT_EQ(AddedAfter(minutes(10), &after), 3U);
  EXPECT_LE(after, seconds(3));
}

TEST_F(ServiceUpkeepTest, ThoseTooManyAreEndedTheNewestFirstAndWhoIsNotReadyBeforeThem) {
  Set(5);
  service_.replicas[1].note.state = kReplicaStarting;
  EXPECT_THAT(LabelsOf(LookAfter(seconds(1))), IsEmpty());
  EXPECT_THAT(LabelsOf(LookAfter(seconds(2))), ElementsAre("8", "5"));
}

TEST_F(ServiceUpkeepTest, WhileItIsRolledFurtherOnesAreNotTooMany) {
  Set(5);
  service_.terms.further = 2;
  service_.terms.further_until = Time(minutes(20));
  LookAfter(seconds(1));
  EXPECT_THAT(LabelsOf(LookAfter(minutes(5))), IsEmpty());
  EXPECT_THAT(LabelsOf(LookAfter(minutes(5))), IsEmpty());
  EXPECT_THAT(LabelsOf(LookAfter(seconds(3))), ElementsAre("7", "8"));
}

TEST_F(ServiceUpkeepTest, OneThatIsLostIsReplacedAfterTheTimeAndEndedOnceAnotherIsReady) {
  service_.replicas[0].lost = true;
  EXPECT_EQ(LookAfter(seconds(1)).add, 0U);
  EXPECT_EQ(LookAfter(seconds(29)).add, 0U);
  EXPECT_EQ(LookAfter(seconds(1)).add, 0U) << "it is missing from now on";
  UpkeepStep step = LookAfter(seconds(2));
  EXPECT_EQ(step.add, 1U);
  EXPECT_THAT(LabelsOf(step), IsEmpty());
  Add();
  service_.replicas.back().note.state = kReplicaStarting;
  EXPECT_THAT(LabelsOf(LookAfter(seconds(1))), IsEmpty());
  service_.replicas.back().note.state = kReplicaReady;
  EXPECT_THAT(LabelsOf(LookAfter(seconds(1))), ElementsAre("1"));
}

TEST_F(ServiceUpkeepTest, OneThatComesBackInTimeIsNotReplaced) {
  for (int i = 0; i < 5; ++i) {
    service_.replicas[0].lost = true;
    EXPECT_EQ(LookAfter(seconds(1)).add, 0U);
    EXPECT_EQ(LookAfter(seconds(25)).add, 0U);
    service_.replicas[0].lost = false;
    EXPECT_EQ(LookAfter(seconds(10)).add, 0U);
  }
}

// A cluster that does what it is told: replicas start after a while, and some end or are lost.
TEST_F(ServiceUpkeepTest, WhateverHappensTheNumberComesBackToWhatWasAsked) {
  EXPECT_TRUE(rc::check([this] {
    upkeep_.emplace(kLostAfter);
    service_.terms.replicas = *rc::gen::inRange(1U, 6U);
    Set(*rc::gen::inRange(0, 8));
    for (ServiceReplica& replica : service_.replicas) {
      replica.lost = *rc::gen::inRange(0, 4) == 0;
      replica.note.state = *rc::gen::element(kReplicaStarting, kReplicaReady, kReplicaLeaving);
    }
    for (int i = 0; i < 120; ++i) {
      const UpkeepStep step = LookAfter(seconds(1));
      std::erase_if(service_.replicas, [&step](const ServiceReplica& replica) {
        return std::any_of(step.end.begin(), step.end.end(),
                           [&replica](const auto& each) { return each.id == replica.id; });
      });
      for (ServiceReplica& replica : service_.replicas) {
        replica.note.state = replica.leaves() ? replica.note.state : kReplicaReady;
      }
      for (std::uint32_t added = 0; added < step.add; ++added) {
        Add();
        service_.replicas.back().note.state = kReplicaStarting;
      }
    }
    const auto staying = Staying(service_.replicas);
    RC_ASSERT(staying.size() == service_.terms.replicas);
    for (const ServiceReplica& replica : staying) {
      RC_ASSERT(replica.ready());
    }
  }));
}

}  // namespace
}  // namespace muster::cli
