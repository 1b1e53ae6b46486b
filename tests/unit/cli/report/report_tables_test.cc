#include "cli/report/report_tables.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace muster::cli {
namespace {

using std::chrono::hours;

TEST(ReportTablesTest, UseIsShownInHours) {
  UsageRow row{.names = {"physics"}, .jobs = 12, .failed = 1, .cpu_seconds = 5400};
  row.memory_mib_seconds = 1024.0 * 7200;
  row.measured_cpu_seconds = 5400;
  row.worked_cpu_seconds = 2700;
  EXPECT_EQ(PrintUsage({row, {.names = {""}}}, {ReportBy::kAccount}, {"cpu", "gpu", "mem"}, true,
                       Style()),
            "ACCOUNT  JOBS  FAILED  CPU-HOURS  GPU-HOURS  GIB-HOURS  CPU-USE\n"
            "physics    12       1        1.5        0.0        2.0     50 %\n"
            "-           0       0        0.0        0.0        0.0        -\n");
}

TEST(ReportTablesTest, ColumnsOfUseAreChosenAndGroupsHaveSeveralNames) {
  UsageRow row{.names = {"physics", "2026-03"}, .jobs = 2, .gpu_seconds = 7200};
  row.node_seconds = 3600;
  row.joules = 7'200'000;
  const std::vector<ReportBy> by = {ReportBy::kAccount, ReportBy::kMonth};
  EXPECT_EQ(PrintUsage({row}, by, *ReadReportedTres("energy,node"), true, Style()),
            "ACCOUNT  MONTH    JOBS  FAILED  KWH  NODE-HOURS  CPU-USE\n"
            "physics  2026-03     2       0  2.0         1.0        -\n");
  EXPECT_FALSE(ReadReportedTres("gpu,volts").has_value());
  EXPECT_FALSE(ReadReportedTres("").has_value());
  const auto usage = nlohmann::json::parse(UsageDocument({row}, by, {}))["usage"][0];
  EXPECT_EQ(usage["name"], "physics,2026-03");
  EXPECT_EQ(usage["month"], "2026-03");
  EXPECT_EQ(usage["energy_kwh"], 2);
}

TEST(ReportTablesTest, EnergyThatNobodyMeasuredIsNotZero) {
  const UsageRow row{.names = {"ann"}, .jobs = 2};
  const std::vector<ReportBy> by = {ReportBy::kUser};
  EXPECT_EQ(PrintUsage({row}, by, *ReadReportedTres("energy"), true, Style()),
            "USER  JOBS  FAILED  KWH  CPU-USE\n"
            "ann      2       0    -        -\n");
  EXPECT_TRUE(
      nlohmann::json::parse(UsageDocument({row}, by, {}))["usage"][0]["energy_kwh"].is_null());
}

TEST(ReportTablesTest, CostsAreOfTheSitesCurrencyOrNotKnown) {
  UsageRow row{.names = {"ann"}, .jobs = 2, .cost = 12.345, .currency = "EUR"};
  const std::vector<ReportBy> by = {ReportBy::kUser};
  EXPECT_EQ(PrintUsage({row}, by, *ReadReportedTres("cost"), true, Style()),
            "USER  JOBS  FAILED    EUR  CPU-USE\n"
            "ann      2       0  12.35        -\n");
  auto usage = nlohmann::json::parse(UsageDocument({row}, by, {}))["usage"][0];
  EXPECT_EQ(usage["cost"], 12.345);
  EXPECT_EQ(usage["currency"], "EUR");
  row.currency.clear();
  EXPECT_EQ(PrintUsage({row}, by, *ReadReportedTres("cost"), true, Style()),
            "USER  JOBS  FAILED  COST  CPU-USE\n"
            "ann      2       0     -        -\n");
  usage = nlohmann::json::parse(UsageDocument({row}, by, {}))["usage"][0];
  EXPECT_TRUE(usage["cost"].is_null());
  EXPECT_TRUE(usage["currency"].is_null());
}

TEST(ReportTablesTest, SizesAreShownWithTheirShareOfAllJobs) {
  const SizeRow cpus{
      .used = {.jobs = 3, .cpu_seconds = 3600}, .least = 3, .most = 4, .median = hours(1)};
  const SizeRow gpu{.used = {.jobs = 1, .gpu_seconds = 1800}, .gpus = true, .least = 1, .most = 1};
  EXPECT_EQ(PrintSizes({cpus, gpu}, {}, {"cpu", "gpu"}, true, Style()),
            "SIZE      JOBS  SHARE                   CPU-HOURS  GPU-HOURS   MEDIAN\n"
            "3-4 CPUs     3   75 %  ###############        1.0        0.0  1:00:00\n"
            "1 GPU        1   25 %  #####                  0.0        0.5     0:00\n");
  const auto sizes = nlohmann::json::parse(SizesDocument({gpu}, {}, {}))["sizes"][0];
  EXPECT_EQ(sizes["of"], "gpus");
  EXPECT_EQ(sizes["gpu_hours"], 0.5);
  EXPECT_FALSE(sizes.contains("name"));
}

TEST(ReportTablesTest, SizesHaveTheNamesOfGroupsAndTheColumnsThatAreChosen) {
  const SizeRow row{.used = {.names = {"physics", "ann"}, .jobs = 1, .joules = 3'600'000},
                    .gpus = true,
                    .least = 1,
                    .most = 1,
                    .median = hours(1)};
  const std::vector<ReportBy> by = {ReportBy::kAccount, ReportBy::kUser};
  EXPECT_EQ(PrintSizes({row}, by, *ReadReportedTres("energy"), true, Style()),
            "ACCOUNT  USER  SIZE   JOBS  SHARE                        KWH   MEDIAN\n"
            "physics  ann   1 GPU     1  100 %  ####################  1.0  1:00:00\n");
  const auto document = nlohmann::json::parse(SizesDocument({row}, by, {}));
  EXPECT_EQ(document["by"], "account,user");
  EXPECT_EQ(document["sizes"][0]["user"], "ann");
  EXPECT_EQ(document["sizes"][0]["energy_kwh"], 1);
}

TEST(ReportTablesTest, WaitsAreShownAsSlurmWritesTimes) {
  EXPECT_EQ(PrintWaits({{{"debug"}, 3, Duration(1000), hours(1), hours(1), hours(27)}},
                       {ReportBy::kPartition}, true, Style()),
            "PARTITION  STARTED  MEDIAN      P90      P99     LONGEST\n"
            "debug            3    0:01  1:00:00  1:00:00  1-03:00:00\n");
}

TEST(ReportTablesTest, LoadIsABar) {
  LoadRow row{.period = {Time(hours(24)), Time(hours(25))}, .cpu_seconds = 50, .cpu_offered = 100};
  row.jobs = 2.25;
  EXPECT_EQ(PrintLoad({row}, {}, {"cpu", "gpu"}, false, Style()),
            "1970-01-02 00:00:00  2.2  50 %  ##########  -\n");
  row.names = {"ann"};
  EXPECT_EQ(PrintLoad({row}, {ReportBy::kUser}, {"gpu"}, true, Style()),
            "FROM                 USER  JOBS  GPUS\n1970-01-02 00:00:00  ann    2.2     -\n");
}

TEST(ReportTablesTest, DocumentsSayTheirTimeAndNothingOfNothing) {
  const UsageWindow window{Time(hours(24)), Time(hours(48))};
  const auto usage = nlohmann::json::parse(
      UsageDocument({{.names = {"a"}, .cpu_seconds = 3600}}, {ReportBy::kUser}, window));
  EXPECT_EQ(usage["since"], "1970-01-02T00:00:00.000Z");
  EXPECT_EQ(usage["by"], "user");
  EXPECT_EQ(usage["usage"][0]["cpu_hours"], 1);
  EXPECT_TRUE(usage["usage"][0]["cpu_efficiency"].is_null());
  const auto waits = nlohmann::json::parse(WaitsDocument(
      {{{"a"}, 1, Duration(1500), hours(1), hours(1), hours(1)}}, {ReportBy::kQos}, window));
  EXPECT_EQ(waits["waits"][0]["median"], 1.5);
  const auto load = nlohmann::json::parse(
      LoadDocument({{.period = window, .cpu_seconds = 1, .cpu_offered = 4}}, {}, window));
  EXPECT_EQ(load["utilization"][0]["cpus"], 0.25);
  EXPECT_TRUE(load["utilization"][0]["gpus"].is_null());
}

}  // namespace
}  // namespace muster::cli
