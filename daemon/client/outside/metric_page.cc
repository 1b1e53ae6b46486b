#include "daemon/client/outside/metric_page.h"

#include <algorithm>
#include <utility>

namespace muster::daemon {
namespace {

// Keeps the largest and joins the others, so that the number of samples is bounded whatever users
// call their accounts.
MetricSeries Bounded(MetricSeries series, MetricPage::Others others) {
  if (series.size() <= kSeriesMax) {
    return series;
  }
  std::vector<std::pair<MetricLabels, double>> sorted(series.begin(), series.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  MetricSeries kept(sorted.begin(), sorted.begin() + kSeriesMax - 1);
  for (std::size_t i = kSeriesMax - 1; i < sorted.size(); ++i) {
    double& other = kept[MetricLabels(sorted[i].first.size(), "other")];
    other = others == MetricPage::Others::kSum ? other + sorted[i].second
                                               : std::max(other, sorted[i].second);
  }
  return kept;
}

void Fill(wire::MetricFamily& family, MetricSeries series, MetricPage::Others others) {
  for (const auto& [labels, value] : Bounded(std::move(series), others)) {
    wire::MetricSample& sample = *family.add_samples();
    sample.mutable_labels()->Add(labels.begin(), labels.end());
    sample.set_value(value);
  }
}

}  // namespace

wire::MetricFamily& MetricPage::Family(wire::MetricKind kind, const std::string& name,
                                       const std::string& help, const MetricLabels& label_names) {
  wire::MetricFamily& family = *reply_.add_families();
  family.set_name(name);
  family.set_help(help);
  family.set_kind(kind);
  for (const std::string& label : label_names) {
    family.add_label_names(label);
  }
  return family;
}

void MetricPage::Gauge(const std::string& name, const std::string& help, double value) {
  Family(wire::METRIC_KIND_GAUGE, name, help).add_samples()->set_value(value);
}

void MetricPage::Gauges(const std::string& name, const std::string& help,
                        const MetricLabels& label_names, MetricSeries series, Others others) {
  Fill(Family(wire::METRIC_KIND_GAUGE, name, help, label_names), std::move(series), others);
}

void MetricPage::Counter(const std::string& name, const std::string& help, double value) {
  Family(wire::METRIC_KIND_COUNTER, name, help).add_samples()->set_value(value);
}

void MetricPage::Counters(const std::string& name, const std::string& help,
                          const MetricLabels& label_names, MetricSeries series) {
  Fill(Family(wire::METRIC_KIND_COUNTER, name, help, label_names), std::move(series), Others::kSum);
}

void MetricPage::Add(wire::MetricFamily& family, const Timings& timings,
                     const MetricLabels& labels) {
  if (family.bounds().empty()) {
    family.mutable_bounds()->Add(timings.bounds().begin(), timings.bounds().end());
  }
  const Timings::Reading reading = timings.Read();
  wire::MetricSample& sample = *family.add_samples();
  sample.mutable_labels()->Add(labels.begin(), labels.end());
  sample.set_value(reading.seconds);
  sample.mutable_counts()->Add(reading.counts.begin(), reading.counts.end());
}

wire::ReadMetricsReply MetricPage::Take(Time time) {
  reply_.set_time(time.time_since_epoch().count());
  return std::move(reply_);
}

}  // namespace muster::daemon
