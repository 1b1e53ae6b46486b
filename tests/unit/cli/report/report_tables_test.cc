#include "cli/report/report_tables.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace muster::cli {
namespace {

using std::chrono::hours;

TEST(ReportTablesTest, UseIsShownInHours) {
  UsageRow row{.name = "physics", .jobs = 12, .failed = 1, .cpu_seconds = 5400};
  row.memory_mib_seconds = 1024.0 * 7200;
  row.measured_cpu_seconds = 5400;
  row.worked_cpu_seconds = 2700;
  EXPECT_EQ(PrintUsage({row, {.name = ""}}, ReportBy::kAccount, true, Style()),
            "ACCOUNT  JOBS  FAILED  CPU-HOURS  GPU-HOURS  GIB-HOURS  CPU-USE\n"
            "physics    12       1        1.5        0.0        2.0     50 %\n"
            "-           0       0        0.0        0.0        0.0        -\n");
}

TEST(ReportTablesTest, WaitsAreShownAsSlurmWritesTimes) {
  EXPECT_EQ(PrintWaits({{"debug", 3, Duration(1000), hours(1), hours(1), hours(27)}},
                       ReportBy::kPartition, true, Style()),
            "PARTITION  STARTED  MEDIAN      P90      P99     LONGEST\n"
            "debug            3    0:01  1:00:00  1:00:00  1-03:00:00\n");
}

TEST(ReportTablesTest, LoadIsABar) {
  LoadRow row{.period = {Time(hours(24)), Time(hours(25))}, .cpu_seconds = 50, .cpu_offered = 100};
  row.jobs = 2.25;
  EXPECT_EQ(PrintLoad({row}, false, Style()),
            "1970-01-02 00:00:00  2.2  50 %  ##########  -\n");
}

TEST(ReportTablesTest, DocumentsSayTheirTimeAndNothingOfNothing) {
  const UsageWindow window{Time(hours(24)), Time(hours(48))};
  const auto usage = nlohmann::json::parse(
      UsageDocument({{.name = "a", .cpu_seconds = 3600}}, ReportBy::kUser, window));
  EXPECT_EQ(usage["since"], "1970-01-02T00:00:00.000Z");
  EXPECT_EQ(usage["by"], "user");
  EXPECT_EQ(usage["usage"][0]["cpu_hours"], 1);
  EXPECT_TRUE(usage["usage"][0]["cpu_efficiency"].is_null());
  const auto waits = nlohmann::json::parse(WaitsDocument(
      {{"a", 1, Duration(1500), hours(1), hours(1), hours(1)}}, ReportBy::kQos, window));
  EXPECT_EQ(waits["waits"][0]["median"], 1.5);
  const auto load = nlohmann::json::parse(
      LoadDocument({{.period = window, .cpu_seconds = 1, .cpu_offered = 4}}, window));
  EXPECT_EQ(load["utilization"][0]["cpus"], 0.25);
  EXPECT_TRUE(load["utilization"][0]["gpus"].is_null());
}

}  // namespace
}  // namespace muster::cli
