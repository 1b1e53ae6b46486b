// The page that shows schedules side by side: its data, and that nothing in it is markup.

#include "scheduler/simulator/report/comparison_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace muster::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ScheduleRow Row(std::int64_t id, std::int64_t wait, std::int64_t user) {
  ScheduleRow row;
  row.job_id = id;
  row.submission_time = id * 10;
  row.starting_time = id * 10 + wait;
  row.execution_time = 30;
  row.requested_resources = 2;
  row.user = user;
  row.group = 0;
  return row;
}

ComparedSchedule Schedule(const std::string& name, std::int64_t wait,
                          std::vector<JobOutcome>* outcomes) {
  ComparedSchedule schedule;
  schedule.name = name;
  schedule.processors = 4;
  ScheduleMetrics metrics;
  for (std::int64_t id = 0; id < 100; ++id) {
    const ScheduleRow row = Row(id, wait, id % 2);
    schedule.profile.Add(row);
    metrics.Add(row);
    outcomes->push_back(OutcomeOf(row));
  }
  schedule.metrics = metrics.Compute(schedule.processors);
  return schedule;
}

nlohmann::json DataOf(const std::string& page) {
  const std::string begin = "<script id=\"data\" type=\"application/json\">";
  const std::size_t from = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

class ComparisonPage : public ::testing::Test {
 protected:
  ComparisonPage() {
    names_.users.NumberOf("ann");
    names_.users.NumberOf("</script><b>");
    names_.groups.NumberOf("physics");
    std::vector<JobOutcome> base;
    std::vector<JobOutcome> variant;
    report_.title = "What if";
    report_.confidence = 0.95;
    report_.schedules.push_back(Schedule("base", 50, &base));
    report_.schedules.push_back(Schedule("nodes+=1", 20, &variant));
    report_.schedules.back().comparison = Compare(base, variant, {});
  }

  TraceNames names_;
  ComparisonReport report_;
};

TEST_F(ComparisonPage, HoldsMetricsLoadWaitsAndWhoGains) {
  const nlohmann::json data = DataOf(ComparisonHtml(report_, names_));
  ASSERT_EQ(data["schedules"].size(), 2U);
  const nlohmann::json& base = data["schedules"][0];
  const nlohmann::json& variant = data["schedules"][1];
  EXPECT_FALSE(base.contains("overall"));
  EXPECT_EQ(variant["overall"]["wait"]["mean"], -30);
  EXPECT_EQ(variant["accounts"][0]["name"], "physics");
  EXPECT_EQ(variant["users"][0]["name"], "ann");
  EXPECT_EQ(variant["users"][1]["was"], 50);
  EXPECT_EQ(variant["users"][1]["is"], 20);
  EXPECT_EQ(data["metrics"].size(), base["values"].size());
  EXPECT_EQ(base["inUse"].size(), variant["inUse"].size()) << "one axis of time for all";
  double work = 0;
  for (const nlohmann::json& mean : base["inUse"]) {
    work += mean.get<double>() * data["slice"].get<double>();
  }
  EXPECT_NEAR(work, 100 * 30 * 2, 1e-6);
  EXPECT_EQ(base["waits"][7], 100) << "all waited from 30 s to 60 s";
}

TEST_F(ComparisonPage, FetchesNothingAndTakesNoNameForMarkup) {
  const std::string page = ComparisonHtml(report_, names_);
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("href=")));
  EXPECT_THAT(page, Not(HasSubstr("@DATA@")));
  EXPECT_EQ(DataOf(page)["schedules"][1]["users"][1]["name"], "</script><b>");
  EXPECT_EQ(page, ComparisonHtml(report_, names_));
}

}  // namespace
}  // namespace muster::sim
