#pragma once

// A page of metrics while it is written: families with their samples, in order.
//
// Invariant: a family has at most kSeriesMax samples; the smallest of more are joined under
// "other".

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "daemon/controller/meters.h"
#include "proto/metrics.pb.h"

namespace muster::daemon {

inline constexpr std::size_t kSeriesMax = 1000;

using MetricLabels = std::vector<std::string>;
using MetricSeries = std::map<MetricLabels, double>;

class MetricPage {
 public:
  // What becomes of the samples that are too many.
  enum class Others { kSum, kMost };

  wire::MetricFamily& Family(wire::MetricKind kind, const std::string& name,
                             const std::string& help, const MetricLabels& label_names = {});
  void Gauge(const std::string& name, const std::string& help, double value);
  void Gauges(const std::string& name, const std::string& help, const MetricLabels& label_names,
              MetricSeries series, Others others = Others::kSum);
  void Counter(const std::string& name, const std::string& help, double value);
  void Counters(const std::string& name, const std::string& help, const MetricLabels& label_names,
                MetricSeries series);
  // A sample of a family of histograms.
  static void Add(wire::MetricFamily& family, const Timings& timings,
                  const MetricLabels& labels = {});
  // The page, of a state that was looked at then.
  wire::ReadMetricsReply Take(Time time);

 private:
  wire::ReadMetricsReply reply_;
};

}  // namespace muster::daemon
