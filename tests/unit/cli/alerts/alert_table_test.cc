#include "cli/alerts/alert_table.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "cli/alerts/alert_rules.h"

namespace muster::cli {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const Time kNow(std::chrono::hours(500'000));

NodeView Node(const std::string& name, const std::string& state) {
  NodeView node;
  node.name = name;
  node.state = state;
  return node;
}

TEST(AlertTableTest, AnAlertFiresOnceItHasBeenSoForLongEnoughAndEndsOnce) {
  AlertTable table(DefaultAlertSettings());
  table.Look({Node("n1", "DOWN")}, {}, {}, kNow);
  EXPECT_TRUE(table.Take(kNow).empty());
  table.Look({Node("n1", "DOWN")}, {}, {}, kNow + minutes(2));
  const std::vector<Alert> fired = table.Take(kNow + minutes(2));
  ASSERT_EQ(fired.size(), 1U);
  EXPECT_EQ(fired[0].rule, "NodeSilent");
  EXPECT_EQ(fired[0].node, "n1");
  EXPECT_EQ(fired[0].since, kNow);
  table.Look({Node("n1", "IDLE")}, {}, {}, kNow + minutes(3));
  const std::vector<Alert> ended = table.Take(kNow + minutes(3));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].ended, kNow + minutes(3));
  EXPECT_TRUE(table.Take(kNow + minutes(4)).empty());
}

TEST(AlertTableTest, WhatWasShortIsNeverTold) {
  AlertTable table(DefaultAlertSettings());
  table.Look({Node("n1", "DOWN")}, {}, {}, kNow);
  table.Take(kNow);
  table.Look({Node("n1", "IDLE")}, {}, {}, kNow + seconds(30));
  EXPECT_TRUE(table.Take(kNow + seconds(30)).empty());
  table.Look({Node("n1", "DOWN")}, {}, {}, kNow + seconds(90));
  EXPECT_TRUE(table.Take(kNow + seconds(90)).empty()) << "it begins anew";
}

TEST(AlertTableTest, AnEventsAlertStaysForAWhile) {
  AlertTable table(DefaultAlertSettings());
  table.Hear(R"({"type":"muster.job.ended","data":{"label":"7","name":"x","user":"ada",
                "state":"OUT_OF_MEMORY"}})",
             kNow);
  table.Hear(R"({"type":"muster.job.ended","data":{"label":"8","state":"COMPLETED"}})", kNow);
  table.Hear("no json", kNow);
  table.Look({}, {}, {}, kNow + minutes(1));
  ASSERT_EQ(table.Take(kNow + minutes(1)).size(), 1U);
  table.Look({}, {}, {}, kNow + AlertTable::kKept + minutes(1));
  EXPECT_NE(table.Take(kNow + AlertTable::kKept + minutes(1)).at(0).ended, kNoTime);
}

TEST(AlertTableTest, JobsAreLookedAt) {
  JobView never;
  never.label = "7";
  never.state = "PENDING";
  never.reason.never = true;
  JobView late = never;
  late.label = "8";
  late.reason.never = false;
  late.expected_start = kNow - minutes(5);
  AlertTable table({{"StartPromiseMissed", {"critical", Duration(0)}}});
  table.Look({}, {never, late}, {}, kNow);
  const std::vector<Alert> fired = table.Take(kNow);
  ASSERT_EQ(fired.size(), 1U) << "the other rule is off";
  EXPECT_EQ(fired[0].job, "8");
}

TEST(AlertTableTest, WarningsOfJobsNodesAndTheControllerAreAlerts) {
  NodeView node = Node("n1", "IDLE");
  node.warnings = {{"GpuXid", "XID 79", kNow}};
  NodeView lost = Node("n2", "IDLE+DRAIN");
  lost.reason = "GPU GPU-a has fallen off the bus (NVML: GPU is lost)";
  JobView job;
  job.label = "7";
  job.state = "RUNNING";
  job.warnings = {{"ValueNotANumber", "loss is nan", kNow}, {"NoSuchRule", "x", kNow}};
  AlertTable table(DefaultAlertSettings());
  table.Look({node, lost}, {job}, {{"CertificateEnding", "soon", kNow}}, kNow);
  std::map<std::string, std::string> subjects;
  for (const Alert& alert : table.Take(kNow)) {
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
}  // namespace muster::cli
