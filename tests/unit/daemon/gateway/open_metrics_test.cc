#include "daemon/gateway/rest/open_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;

wire::ReadMetricsReply Some() {
  wire::ReadMetricsReply metrics;
  wire::MetricFamily& jobs = *metrics.add_families();
  jobs.set_name("muster_jobs");
  jobs.set_help("Jobs \\ of\nall");
  jobs.add_label_names("account");
  wire::MetricSample& odd = *jobs.add_samples();
  odd.add_labels("a\"b\\c\nd");
  odd.set_value(3);
  wire::MetricFamily& ended = *metrics.add_families();
  ended.set_name("muster_ended");
  ended.set_kind(wire::METRIC_KIND_COUNTER);
  ended.add_samples()->set_value(0.25);
  wire::MetricFamily& waits = *metrics.add_families();
  waits.set_name("muster_wait_seconds");
  waits.set_kind(wire::METRIC_KIND_HISTOGRAM);
  waits.add_bounds(0.5);
  waits.add_bounds(1);
  wire::MetricSample& wait = *waits.add_samples();
  wait.set_value(7.5);
  wait.add_counts(2);
  wait.add_counts(0);
  wait.add_counts(1);
  wire::MetricFamily& info = *metrics.add_families();
  info.set_name("muster_controller");
  info.set_kind(wire::METRIC_KIND_INFO);
  info.add_label_names("version");
  info.add_samples()->add_labels("1");
  info.mutable_samples(0)->set_value(1);
  return metrics;
}

TEST(OpenMetricsTest, EveryKindIsWrittenAsTheSpecificationHasIt) {
  EXPECT_EQ(PrintMetrics(Some(), true),
            "# HELP muster_jobs Jobs \\\\ of\\nall\n"
            "# TYPE muster_jobs gauge\n"
            "muster_jobs{account=\"a\\\"b\\\\c\\nd\"} 3\n"
            "# HELP muster_ended \n"
            "# TYPE muster_ended counter\n"
            "muster_ended_total 0.25\n"
            "# HELP muster_wait_seconds \n"
            "# TYPE muster_wait_seconds histogram\n"
            "muster_wait_seconds_bucket{le=\"0.5\"} 2\n"
            "muster_wait_seconds_bucket{le=\"1.0\"} 2\n"
            "muster_wait_seconds_bucket{le=\"+Inf\"} 3\n"
            "muster_wait_seconds_sum 7.5\n"
            "muster_wait_seconds_count 3\n"
            "# HELP muster_controller \n"
            "# TYPE muster_controller info\n"
            "muster_controller_info{version=\"1\"} 1\n"
            "# EOF\n");
}

TEST(OpenMetricsTest, TheOlderFormNamesACounterAsItsSample) {
  const std::string text = PrintMetrics(Some(), false);
  EXPECT_THAT(text, HasSubstr("# TYPE muster_ended_total counter\nmuster_ended_total 0.25\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE muster_controller_info gauge\n"));
  EXPECT_EQ(text.find("# EOF"), std::string::npos);
}

TEST(OpenMetricsTest, PrometheusAsksForOpenMetrics) {
  EXPECT_TRUE(AcceptsOpenMetrics(
      "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"));
  EXPECT_FALSE(AcceptsOpenMetrics("text/plain"));
  EXPECT_FALSE(AcceptsOpenMetrics(""));
}

}  // namespace
}  // namespace muster::daemon
