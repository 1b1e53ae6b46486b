#include "scheduler/settings/alerts/alert_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "scheduler/settings/alerts/alert_rules.h"

namespace muster {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Time kNow(std::chrono::hours(500'000));

NodeView Node(const std::string& name, const std::string& state) {
  NodeView node;
  node.name = name;
  node.state = state;
  return node;
}

TEST(AlertJudgeTest, AnAlertIsOpenOnceItHasBeenSoForLongEnoughAndUntilNoLookFindsIt) {
  AlertJudge judge(DefaultAlertSettings());
  judge.Look({Node("n1", "DOWN")}, {}, {}, kNow);
  EXPECT_THAT(judge.Open(kNow), IsEmpty());
  judge.Look({Node("n1", "DOWN")}, {}, {}, kNow + minutes(2));
  const std::vector<Alert> open = judge.Open(kNow + minutes(2));
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open[0].rule, "NodeSilent");
  EXPECT_EQ(open[0].severity, "critical");
  EXPECT_EQ(open[0].node, "n1");
  EXPECT_EQ(open[0].since, kNow);
  judge.Look({Node("n1", "IDLE")}, {}, {}, kNow + minutes(3));
  EXPECT_THAT(judge.Open(kNow + minutes(3)), IsEmpty());
}

TEST(AlertJudgeTest, WhatWasShortIsNeverOpen) {
  AlertJudge judge(DefaultAlertSettings());
  judge.Look({Node("n1", "DOWN")}, {}, {}, kNow);
  judge.Look({Node("n1", "IDLE")}, {}, {}, kNow + seconds(30));
  EXPECT_THAT(judge.Open(kNow + seconds(30)), IsEmpty());
  judge.Look({Node("n1", "DOWN")}, {}, {}, kNow + seconds(90));
  EXPECT_THAT(judge.Open(kNow + seconds(90)), IsEmpty()) << "its time begins again";
}

TEST(AlertJudgeTest, AnEndThatWasToldStaysForAWhile) {
  JobView job;
  job.id = JobId(7);
  job.label = "7";
  job.user = "ada";
  AlertJudge judge(DefaultAlertSettings());
  judge.NoteOutOfMemory(job, kNow);
  judge.Look({}, {}, {}, kNow + minutes(1));
  const std::vector<Alert> open = judge.Open(kNow + minutes(1));
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open[0].rule, "JobOutOfMemory");
  EXPECT_EQ(open[0].job, JobId(7));
  EXPECT_EQ(open[0].user, "ada");
  judge.Look({}, {}, {}, kNow + AlertJudge::kKept + minutes(1));
  EXPECT_THAT(judge.Open(kNow + AlertJudge::kKept + minutes(1)), IsEmpty());
}

TEST(AlertJudgeTest, WhatWasOpenBeforeGoesOnWithoutWaitingAgain) {
  JobView job;
  job.label = "7";
  AlertJudge before(DefaultAlertSettings());
  before.NoteHung(job, kNow);
  before.Look({Node("n1", "DOWN"), Node("n2", "DOWN")}, {}, {}, kNow);
  AlertJudge judge(DefaultAlertSettings());
  judge.Resume(before.Open(kNow + minutes(2)));
  judge.Look({Node("n1", "DOWN")}, {}, {}, kNow + minutes(2));
  const std::vector<Alert> open = judge.Open(kNow + minutes(2));
  ASSERT_THAT(open, SizeIs(2));
  EXPECT_EQ(open[0].rule, "JobHung");
  EXPECT_EQ(open[1].subject, "n1");
  EXPECT_EQ(open[1].since, kNow);
}

TEST(AlertJudgeTest, OtherRulesCountAtOnce) {
  AlertJudge judge(DefaultAlertSettings());
  judge.Look({Node("n1", "DOWN")}, {}, {}, kNow);
  judge.Use({{"NodeSilent", {"page", Duration(0)}}});
  judge.Look({Node("n1", "DOWN")}, {}, {}, kNow + seconds(1));
  ASSERT_THAT(judge.Open(kNow + seconds(1)), SizeIs(1));
  EXPECT_EQ(judge.Open(kNow + seconds(1))[0].severity, "page");
  judge.Use({});
  EXPECT_THAT(judge.Open(kNow + seconds(1)), IsEmpty());
}

TEST(AlertJudgeTest, JobsAreLookedAt) {
  JobView never;
  never.label = "7";
  never.state = "PENDING";
  never.reason.never = true;
  JobView late = never;
  late.id = JobId(8);
  late.label = "8";
  late.reason.never = false;
  late.expected_start = kNow - minutes(5);
  AlertJudge judge({{"StartPromiseMissed", {"critical", Duration(0)}}});
  judge.Look({}, {never, late}, {}, kNow);
  ASSERT_THAT(judge.Open(kNow), SizeIs(1)) << "the other rule is off";
  EXPECT_EQ(judge.Open(kNow)[0].job, JobId(8));
}

TEST(AlertJudgeTest, WarningsOfJobsNodesAndTheControllerAreAlerts) {
  NodeView node = Node("n1", "IDLE");
  node.warnings = {{"GpuXid", "XID 79", kNow}};
  NodeView lost = Node("n2", "IDLE+DRAIN");
  lost.reason = "GPU GPU-a has fallen off the bus (NVML: GPU is lost)";
  JobView job;
  job.label = "7";
  job.state = "RUNNING";
  job.warnings = {{"ValueNotANumber", "loss is nan", kNow}, {"NoSuchRule", "x", kNow}};
  AlertJudge judge(DefaultAlertSettings());
  judge.Look({node, lost}, {job}, {{"CertificateEnding", "soon", kNow}}, kNow);
  std::map<std::string, std::string> subjects;
  for (const Alert& alert : judge.Open(kNow)) {
    subjects[alert.rule] = alert.subject;
  }
  EXPECT_EQ(subjects, (std::map<std::string, std::string>{{"CertificateEnding", "controller"},
                                                          {"GpuLost", "n2"},
                                                          {"GpuXid", "n1"},
                                                          {"ValueNotANumber", "job 7"}}));
}

TEST(AlertRulesTest, AFileChangesRulesAndMistakesNameTheirLine) {
  AlertSettings settings = DefaultAlertSettings();
  ConfigFile file =
      ConfigFile::Parse("[alert.NodeSilent]\nfor = \"5m\"\n[alert.JobHung]\nseverity = \"none\"\n",
                        "n.toml")
          .value();
  ASSERT_TRUE(ReadAlertSettings(file, &settings).ok());
  EXPECT_EQ(settings["NodeSilent"].hold, minutes(5));
  EXPECT_FALSE(settings.contains("JobHung"));
  ConfigFile wrong = ConfigFile::Parse("\n[alert.NodeSlient]\nfor = \"5m\"\n", "n.toml").value();
  const absl::Status status = ReadAlertSettings(wrong, &settings);
  EXPECT_EQ(std::string(status.message()).substr(0, 9), "n.toml:2:") << status;
}

}  // namespace
}  // namespace muster
