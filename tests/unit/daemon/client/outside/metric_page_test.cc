#include "daemon/client/outside/metric_page.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace muster::daemon {
namespace {

TEST(MetricPage, FamiliesStandInTheirOrderWithTheTimeOfTheState) {
  MetricPage page;
  page.Gauge("b", "The first", 2);
  page.Counters("a", "The second", {"of"}, {{{"x"}, 3}, {{"y"}, 4}});
  const wire::ReadMetricsReply reply = page.Take(Time(std::chrono::seconds(7)));
  EXPECT_EQ(reply.time(), 7000);
  ASSERT_EQ(reply.families_size(), 2);
  EXPECT_EQ(reply.families(0).name(), "b");
  EXPECT_EQ(reply.families(0).samples(0).value(), 2);
  EXPECT_EQ(reply.families(1).kind(), wire::METRIC_KIND_COUNTER);
  ASSERT_EQ(reply.families(1).samples_size(), 2);
  EXPECT_EQ(reply.families(1).samples(1).labels(0), "y");
}

TEST(MetricPage, OfTooManySamplesTheSmallestAreJoined) {
  MetricSeries series;
  for (std::size_t i = 0; i < kSeriesMax + 10; ++i) {
    series[{absl::StrCat("user", i)}] = static_cast<double>(i + 1);
  }
  MetricPage page;
  page.Gauges("sums", "Added up", {"user"}, series);
  page.Gauges("hottest", "The most", {"user"}, series, MetricPage::Others::kMost);
  const wire::ReadMetricsReply reply = page.Take(Time());
  for (const wire::MetricFamily& family : reply.families()) {
    ASSERT_EQ(static_cast<std::size_t>(family.samples_size()), kSeriesMax);
    double other = 0;
    for (const wire::MetricSample& sample : family.samples()) {
      other = sample.labels(0) == "other" ? sample.value() : other;
    }
    // Eleven are joined: of 1 to 11.
    EXPECT_EQ(other, family.name() == "sums" ? 66 : 11);
  }
}

TEST(MetricPage, AHistogramHasItsBoundsOnceAndASampleForEach) {
  Timings timings(kWorkBounds);
  timings.Observe(std::chrono::milliseconds(3));
  MetricPage page;
  wire::MetricFamily& family =
      page.Family(wire::METRIC_KIND_HISTOGRAM, "calls", "Of methods", {"method"});
  MetricPage::Add(family, timings, {"Submit"});
  MetricPage::Add(family, timings, {"Cancel"});
  const wire::ReadMetricsReply reply = page.Take(Time());
  EXPECT_EQ(static_cast<std::size_t>(reply.families(0).bounds_size()), kWorkBounds.size());
  ASSERT_EQ(reply.families(0).samples_size(), 2);
  EXPECT_EQ(reply.families(0).samples(1).labels(0), "Cancel");
}

}  // namespace
}  // namespace muster::daemon
