#include "cli/service/service_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A cluster of replicas, of which new ones are ready after a time.
class ServiceChangesTest : public ::testing::Test {
 protected:
  ServiceChangesTest() {
    Add(3);
    MakeReady();
    done_.clear();
  }

  void Add(std::uint32_t count) {
    ++arrays_;
    for (std::uint32_t i = 0; i < count; ++i) {
      ServiceReplica replica;
      replica.service = "web";
      replica.id = JobId(next_++);
      replica.job = {.job = JobId(arrays_ * 10), .elements = {i}};
      replica.label = absl::StrCat(arrays_ * 10, "_", i);
      replica.job_state = "PENDING";
      replicas_.push_back(replica);
    }
    done_.push_back(absl::StrCat("add ", count));
  }
  void MakeReady() {
    for (ServiceReplica& replica : replicas_) {
      replica.note.state = replica.leaves() ? kReplicaLeaving : kReplicaReady;
    }
  }
  void Mark(const char* what, const std::vector<ServiceReplica>& which) {
    for (const ServiceReplica& replica : which) {
      done_.push_back(absl::StrCat(what, " ", replica.label));
    }
  }
  ServiceCalls Calls() {
    return {.find =
                [this] {
                  return ServiceNow{replicas_, terms_};
                },
            .ask =
                [this](const ServiceTerms& terms) {
                  asked_.push_back(MostMeant(terms, Time(waited_)));
                  terms_ = terms;
                  return absl::OkStatus();
                },
            .add =
                [this](std::uint32_t count) {
                  Add(count);
                  return JobId(arrays_ * 10);
                },
            .leave =
                [this](const std::vector<ServiceReplica>& which) {
                  Mark("leave", which);
                  return absl::OkStatus();
                },
            .cancel =
                [this](const std::vector<ServiceReplica>& which) {
                  Mark("cancel", which);
                  std::erase_if(replicas_, [&which](const ServiceReplica& replica) {
                    return std::any_of(which.begin(), which.end(), [&replica](const auto& each) {
                      return each.id == replica.id;
                    });
                  });
                  return absl::OkStatus();
                },
            .reported = [](const auto&, const auto&) { return std::vector<double>(); },
            .now = [this] { return Time(waited_); },
            .wait =
                [this](Duration time) {
                  waited_ += time;
                  if (become_ready_ && waited_ >= seconds(2)) {
                    MakeReady();
                  }
                }};
  }
  [[nodiscard]] std::vector<std::string> Labels() const {
    std::vector<std::string> labels;
    for (const ServiceReplica& replica : replicas_) {
      labels.push_back(replica.label);
    }
    return labels;
  }

  std::vector<ServiceReplica> replicas_;
  ServiceTerms terms_{.change = 1, .replicas = 3};
  std::vector<std::uint32_t> asked_;  // how many there may be, by what was asked
  std::vector<std::string> done_;
  std::vector<std::string> told_;
  TellChange tell_ = [this](const std::string& line) { told_.push_back(line); };
  std::uint64_t next_ = 1;
  std::uint64_t arrays_ = 0;
  Duration waited_{0};
  bool become_ready_ = true;
};

TEST_F(ServiceChangesTest, ItGrowsByFurtherOnesAndShrinksByThoseThatCameLast) {
  ASSERT_TRUE(ScaleService(Calls(), 5, {}, tell_).ok());
  EXPECT_THAT(Labels(), ElementsAre("10_0", "10_1", "10_2", "20_0", "20_1"));
  ASSERT_TRUE(ScaleService(Calls(), 5, {}, tell_).ok());
  done_.clear();
  MakeReady();
  ASSERT_TRUE(ScaleService(Calls(), 2, {}, tell_).ok());
  EXPECT_THAT(Labels(), ElementsAre("10_0", "10_1"));
  EXPECT_THAT(done_, ElementsAre("leave 10_2", "leave 20_0", "leave 20_1", "cancel 10_2",
                                 "cancel 20_0", "cancel 20_1"));
  EXPECT_THAT(told_,
              ElementsAre("2 further replicas, job 20", "5 replicas already", "3 replicas less"));
}

TEST_F(ServiceChangesTest, AnOldReplicaGoesOnceANewOneIsReady) {
  ASSERT_TRUE(RollService(Calls(), 1, {}, tell_).ok());
  EXPECT_THAT(done_, ElementsAre("add 1", "leave 10_0", "cancel 10_0", "add 1", "leave 10_1",
                                 "cancel 10_1", "add 1", "leave 10_2", "cancel 10_2"));
  EXPECT_THAT(told_.back(), "job 40_0 in place of 10_2 (3 of 3)");
  EXPECT_GE(waited_, seconds(17)) << "three drains, and until the first one was ready";
}

TEST_F(ServiceChangesTest, SeveralAreReplacedAtATime) {
  Add(2);
  MakeReady();
  done_.clear();
  ASSERT_TRUE(RollService(Calls(), 2, {}, tell_).ok());
  EXPECT_THAT(done_, ElementsAre("add 2", "leave 10_0", "leave 10_1", "cancel 10_0", "cancel 10_1",
                                 "add 2", "leave 10_2", "leave 20_0", "cancel 10_2", "cancel 20_0",
                                 "add 1", "leave 20_1", "cancel 20_1"));
  EXPECT_THAT(told_, ElementsAre("jobs 30_0, 30_1 in place of 10_0, 10_1 (2 of 5)",
                                 "jobs 40_0, 40_1 in place of 10_2, 20_0 (4 of 5)",
                                 "job 50_0 in place of 20_1 (5 of 5)"));
}

TEST_F(ServiceChangesTest, HowManyAtATimeIsTheServicesOwnUnlessSaid) {
  terms_.rolling = 3;
  ASSERT_TRUE(RollService(Calls(), 0, {}, tell_).ok());
  EXPECT_THAT(told_, ElementsAre("jobs 20_0, 20_1, 20_2 in place of 10_0, 10_1, 10_2 (3 of 3)"));
}

TEST_F(ServiceChangesTest, WhileItIsRolledFurtherOnesAreMeantAndThenNoMore) {
  ASSERT_TRUE(RollService(Calls(), 2, {}, tell_).ok());
  EXPECT_THAT(asked_, ElementsAre(5, 4, 3));
  asked_.clear();
  become_ready_ = false;
  EXPECT_FALSE(RollService(Calls(), 2, {}, tell_).ok());
  EXPECT_THAT(asked_, ElementsAre(5, 3));
  EXPECT_EQ(terms_.replicas, 3U);
}

TEST_F(ServiceChangesTest, OfSeveralNewOnesOneThatIsNotReadyTakesAllBack) {
  ServiceCalls calls = Calls();
  calls.wait = [this](Duration) { replicas_[3].note.state = kReplicaReady; };
  const absl::Status rolled = RollService(calls, 2, {.patience = seconds(2)}, tell_);
  EXPECT_THAT(std::string(rolled.message()),
              HasSubstr("the new replica, job 20_1, was not ready within 2 s (PENDING)"));
  EXPECT_THAT(done_,
              ElementsAre("add 2", "leave 20_0", "leave 20_1", "cancel 20_0", "cancel 20_1"));
  EXPECT_THAT(Labels(), ElementsAre("10_0", "10_1", "10_2"));
}

TEST_F(ServiceChangesTest, ANewReplicaThatIsNotReadyIsTakenBackAndTheOldOnesStay) {
  become_ready_ = false;
  const absl::Status rolled = RollService(Calls(), 1, {.patience = seconds(30)}, tell_);
  EXPECT_THAT(std::string(rolled.message()),
              HasSubstr("the new replica, job 20_0, was not ready within 30 s (PENDING) and is "
                        "cancelled; the 3 old ones go on; muster logs 20_0"));
  EXPECT_THAT(Labels(), ElementsAre("10_0", "10_1", "10_2"));
  EXPECT_THAT(done_, ElementsAre("add 1", "leave 20_0", "cancel 20_0"));
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(ServiceChangesTest, ANewReplicaThatEndsIsWaitedForNoLonger) {
  ServiceCalls calls = Calls();
  calls.wait = [this](Duration) { replicas_.pop_back(); };
  const absl::Status rolled = RollService(calls, 1, {}, tell_);
  EXPECT_THAT(std::string(rolled.message()),
              HasSubstr("job 20_0, has ended; the 3 old ones go on"));
  EXPECT_THAT(Labels(), ElementsAre("10_0", "10_1", "10_2"));
}

TEST_F(ServiceChangesTest, WhoIsLostOrNotReadyGoesBeforeWhoCameLast) {
  replicas_[0].lost = true;
  replicas_[1].note.state = kReplicaFailing;
  Add(1);
  MakeReady();
  replicas_[1].note.state = kReplicaFailing;
  done_.clear();
  ASSERT_TRUE(ScaleService(Calls(), 2, {}, tell_).ok());
  EXPECT_THAT(Labels(), ElementsAre("10_2", "20_0"));
}

TEST_F(ServiceChangesTest, WhatIsLostCountsForNothingWhenFurtherOnesAreAsked) {
  replicas_[0].lost = true;
  ASSERT_TRUE(ScaleService(Calls(), 3, {}, tell_).ok());
  EXPECT_THAT(told_, ElementsAre("1 further replica, job 20"));
}

TEST_F(ServiceChangesTest, ANumberEndsTheRuleAndARuleBringsItWithinItsBounds) {
  const ScaleRule rule{.least = 4, .most = 8, .metric = "inflight", .target = 10};
  ASSERT_TRUE(ScaleByRule(Calls(), rule, {}, tell_).ok());
  EXPECT_EQ(terms_.rule, rule);
  EXPECT_EQ(told_.back(), "from now on 4-8 by inflight/10, by muster service keep");
  EXPECT_EQ(terms_.replicas, 4U);
  EXPECT_EQ(replicas_.size(), 4U);
  ASSERT_TRUE(ScaleService(Calls(), 4, {}, tell_).ok());
  EXPECT_FALSE(terms_.rule.has_value());
  EXPECT_EQ(terms_.replicas, 4U);
}

TEST_F(ServiceChangesTest, AStoppedServiceIsAskedForNoMore) {
  EXPECT_EQ(*StopService(Calls()), 3U);
  EXPECT_EQ(terms_.replicas, 0U);
  EXPECT_THAT(done_, ElementsAre("cancel 10_0", "cancel 10_1", "cancel 10_2"));
  done_.clear();
  EXPECT_EQ(*StopService(Calls()), 0U);
  EXPECT_THAT(done_, IsEmpty());
}

TEST_F(ServiceChangesTest, WhoIsNotReadyIsEndedAtOnce) {
  replicas_.front().note.state = kReplicaFailing;
  ASSERT_TRUE(EndReplicas(Calls(), {replicas_.front()}, seconds(5)).ok());
  EXPECT_THAT(done_, ElementsAre("cancel 10_0"));
  EXPECT_EQ(waited_, Duration(0));
}

}  // namespace
}  // namespace muster::cli
