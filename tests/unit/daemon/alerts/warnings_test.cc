#include "daemon/alerts/warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::daemon {
namespace {

using core::testing::At;
using core::testing::Tasks;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WarningsTest : public ::testing::Test {
 protected:
  WarningsTest() : node_(world_.AddNode("n1")), job_(world_.Submit(Tasks(1))) { world_.Schedule(); }
  [[nodiscard]] Job TheJob() const { return *world_.state.FindJob(job_); }
  void Take(UsageSample sample) {
    sample.job = job_;
    sample.attempt = AttemptNumber(1);
    sample.time = At(10);
    live_.Take(node_, {sample}, world_.state);
  }

  core::testing::World world_;
  NodeId node_;
  JobId job_;
  LiveUsage live_;
};

TEST_F(WarningsTest, WhatProgramsSaidAndIdleGpusAreAJobsWarnings) {
  EXPECT_THAT(WarningsOf(live_, TheJob(), At(10)), IsEmpty());
  UsageSample sample;
  sample.warnings = {{"ValueSpike", "loss rose", At(5)}};
  Take(sample);
  live_.TakeIdle({{job_, {"GpuIdle", "its GPUs are idle", At(1)}}});
  const std::vector<Warning> warnings = WarningsOf(live_, TheJob(), At(10));
  ASSERT_THAT(warnings, SizeIs(2));
  EXPECT_EQ(warnings[0].rule, "ValueSpike");
  EXPECT_EQ(warnings[1].rule, "GpuIdle");
  Take({});
  live_.TakeIdle({});
  EXPECT_THAT(WarningsOf(live_, TheJob(), At(10)), IsEmpty()) << "the newest word counts";
}

TEST_F(WarningsTest, CheckpointsThatStayAwayAreOverdue) {
  Job job = TheJob();
  CheckpointRecord& record = job.attempt->runs.at(0).checkpoints;
  record.interval = std::chrono::minutes(10);
  record.committed = At(0);
  EXPECT_THAT(WarningsOf(live_, job, At(7200)), IsEmpty()) << "it has never made one";
  record.count = 1;
  EXPECT_THAT(WarningsOf(live_, job, At(1799)), IsEmpty());
  const std::vector<Warning> warnings = WarningsOf(live_, job, At(1801));
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0].rule, "CheckpointOverdue");
  EXPECT_THAT(warnings[0].text, HasSubstr("n1"));
}

TEST_F(WarningsTest, ANodeSaysItselfThatNoneWasEverMadeUntilOneIsMade) {
  UsageSample sample;
  sample.warnings = {{"CheckpointOverdue", "none since it began", At(5)},
                     {"CheckpointOverdue", "the same of another node", At(5)},
                     {"ValueSpike", "loss rose", At(5)}};
  Take(sample);
  Job job = TheJob();
  const std::vector<Warning> warnings = WarningsOf(live_, job, At(10));
  ASSERT_THAT(warnings, SizeIs(2));
  EXPECT_EQ(warnings[0].text, "none since it began");
  EXPECT_EQ(warnings[1].rule, "ValueSpike");
  job.attempt->runs.at(0).checkpoints.count = 1;
  EXPECT_THAT(WarningsOf(live_, job, At(10)), SizeIs(1)) << "others of its nodes owe none";
}

TEST_F(WarningsTest, CheckpointsThatFailAreSaidUntilOneIsGood) {
  Job job = TheJob();
  CheckpointRecord& record = job.attempt->runs.at(0).checkpoints;
  record.failed = 2;
  std::vector<Warning> warnings = WarningsOf(live_, job, At(60));
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0].rule, "CheckpointFailing");
  EXPECT_THAT(warnings[0].text, HasSubstr("newest 2 checkpoints on n1 failed"));
  EXPECT_THAT(warnings[0].text, HasSubstr("it has made none before"));
  record.failed = 1;
  record.count = 1;
  record.committed = At(0);
  warnings = WarningsOf(live_, job, At(60));
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0].text, HasSubstr("the last good one was"));
  EXPECT_EQ(warnings[0].since, At(0));
  record.failed = 0;
  EXPECT_THAT(WarningsOf(live_, job, At(60)), IsEmpty());
}

TEST_F(WarningsTest, ErrorsOfAGpuAreItsNodesAndAnXidIsForgotten) {
  live_.TakeGpus(node_, {{"GPU-a", 2, 79, 1}}, At(0));
  live_.TakeGpus(node_, {{"GPU-a", 2, 79, 1}}, At(100));
  std::vector<Warning> warnings = live_.WarningsOf(node_, At(100));
  ASSERT_THAT(warnings, SizeIs(2));
  EXPECT_EQ(warnings[0].rule, "GpuEccErrors");
  EXPECT_EQ(warnings[0].since, At(0));
  EXPECT_THAT(warnings[1].text, HasSubstr("XID 79"));
  warnings = live_.WarningsOf(node_, At(3601));
  ASSERT_THAT(warnings, SizeIs(1));
  live_.TakeGpus(node_, {}, At(4000));
  EXPECT_THAT(live_.WarningsOf(node_, At(4000)), IsEmpty());
}

TEST_F(WarningsTest, ASlowStoreAndACertificateThatIsGoneAreTheControllers) {
  Meters meters;
  const ControllerWarnings controller(meters, "/there/is/no/certificate");
  ASSERT_THAT(controller.Now(At(10'000)), SizeIs(1));
  EXPECT_EQ(controller.Now(At(10'000))[0].rule, "CertificateEnding");
  meters.commit.Observe(std::chrono::seconds(2));
  EXPECT_THAT(controller.Now(At(10'001)), SizeIs(2));
  meters.commit.Observe(std::chrono::milliseconds(2));
  EXPECT_THAT(ControllerWarnings(meters, "").Now(At(10'002)), IsEmpty());
}

TEST_F(WarningsTest, ACallersCertificateThatEndsSoonIsSaidByItsName) {
  Meters meters;
  CertificateBook book;
  const ControllerWarnings controller(meters, "", &book);
  const Time ends = At(0) + std::chrono::hours(24 * 10);
  book.Note({{CertificateRole::kAgent, "n1"}, "1", At(0), ends, ""});
  book.Note({{CertificateRole::kClient, "ada"}, "2", At(0), ends, ""});
  const std::vector<SubjectWarning> warnings = controller.OfCallers(At(0));
  ASSERT_THAT(warnings, SizeIs(2));
  EXPECT_EQ(warnings[0].subject, "certificate of agent n1");
  EXPECT_EQ(warnings[0].node, "n1");
  EXPECT_EQ(warnings[1].subject, "certificate of client ada");
  EXPECT_EQ(warnings[1].node, "");
  EXPECT_EQ(warnings[1].warning.rule, "CertificateEnding");
  EXPECT_THAT(warnings[1].warning.text, HasSubstr("muster keys client ada --renew"));
  EXPECT_THAT(controller.Now(At(0)), IsEmpty()) << "they are not the controller's own";
  EXPECT_THAT(ControllerWarnings(meters, "").OfCallers(At(0)), IsEmpty());
}

}  // namespace
}  // namespace muster::daemon
