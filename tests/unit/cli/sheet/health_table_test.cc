#include "cli/sheet/health_table.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

constexpr Time kNow{std::chrono::hours(100'000)};

HealthRecord SlowCheck() {
  HealthRecord record;
  record.number = 12;
  record.cause = HealthCause::kConfirm;
  record.status = HealthStatus::kSuspect;
  record.time = kNow - std::chrono::minutes(5);
  record.took = std::chrono::milliseconds(3'210);
  record.verdicts = {
      {{"clock", "GHz", HealthSense::kHigher, 3'390, 0}, 3'400, 20, 64, HealthStatus::kGood},
      {{"memory bandwidth", "GB/s", HealthSense::kHigher, 41'000, 95'000},
       88'000,
       1'779,
       64,
       HealthStatus::kSuspect},
      {{"uncorrected memory errors", "", HealthSense::kNever, 0, 0}, 0, 0, 0, HealthStatus::kGood}};
  return record;
}

HealthView SlowNode() {
  HealthView node;
  node.node = "n7";
  node.state = "slow: memory bandwidth";
  node.class_nodes = 32;
  node.health.drained = true;
  node.health.last = SlowCheck();
  node.history = {SlowCheck()};
  return node;
}

TEST(HealthTable, OneLineSaysWhatTheLastCheckFound) {
  HealthView fresh;
  fresh.node = "n8";
  fresh.class_nodes = 1;
  fresh.tally.failures = 2'500'000;
  EXPECT_EQ(PrintHealthTable({SlowNode(), fresh}, kNow, {}),
            "NAME  HEALTH                            CHECKED  KIND   LIKE IT  NODE FAILURES\n"
            "n7    slow: memory bandwidth, drained  5:00 ago  quick       32              0\n"
            "n8    never checked                           -  -            1            2.5\n");
}

TEST(HealthTable, APageHasEachComponentBesideItsClassAndTheChecksBefore) {
  EXPECT_EQ(
      PrintHealthPage(SlowNode(), kNow, {}),
      "n7: slow: memory bandwidth, drained, checked 5:00 ago; 32 nodes of its class\n"
      "COMPONENT                  MEASURED  CLASS MEDIAN  3 MAD  SAMPLES  OF ROOF  VERDICT\n"
      "clock                      3.39 GHz       3.4 GHz   0.06       64        -  good\n"
      "memory bandwidth            41 GB/s       88 GB/s   5.33       64     43 %  slow\n"
      "uncorrected memory errors         0             -      -        -        -  good\n"
      "\n"
      "CHECK      WHEN  KIND   WHY          TOOK  RESULT\n"
      "   12  5:00 ago  quick  was slow  0:03.21  slow: memory bandwidth 41 GB/s, class median "
      "88 GB/s (MAD 1.19)\n");
}

}  // namespace
}  // namespace muster::cli
