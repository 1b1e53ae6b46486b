#include "daemon/gateway/rest/open_metrics.h"

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace muster::daemon {
namespace {

// Numbers are written short: whole ones without a point.
std::string NumberText(double value) {
  if (std::isfinite(value) && std::floor(value) == value && std::fabs(value) < 1e15) {
    return absl::StrFormat("%.0f", value);
  }
  return std::isfinite(value) ? absl::StrFormat("%.9g", value) : value > 0 ? "+Inf" : "NaN";
}

// The escapes of a label's value and of a help text are the same three.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') {
      escaped.push_back('\\');
      escaped.push_back(c);
    } else if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

class Writer {
 public:
  Writer(const wire::MetricFamily& family, bool open, std::string& text)
      : family_(family), open_(open), text_(text) {}

  void Write() {
    const bool counter = family_.kind() == wire::METRIC_KIND_COUNTER;
    const bool info = family_.kind() == wire::METRIC_KIND_INFO;
    // The older form names a counter as its sample, and knows no info.
    const std::string sample_name = absl::StrCat(family_.name(), counter ? "_total"
                                                                 : info  ? "_info"
                                                                         : "");
    const std::string& name = open_ ? family_.name() : sample_name;
    absl::StrAppend(&text_, "# HELP ", name, " ", Escaped(family_.help()), "\n# TYPE ", name, " ",
                    TypeName(), "\n");
    for (const wire::MetricSample& sample : family_.samples()) {
      if (family_.kind() == wire::METRIC_KIND_HISTOGRAM) {
        WriteHistogram(sample);
      } else {
        Line(sample_name, sample, "", NumberText(sample.value()));
      }
    }
  }

 private:
  [[nodiscard]] const char* TypeName() const {
    switch (family_.kind()) {
      case wire::METRIC_KIND_COUNTER:
        return "counter";
      case wire::METRIC_KIND_HISTOGRAM:
        return "histogram";
      case wire::METRIC_KIND_INFO:
        return open_ ? "info" : "gauge";
      default:
        return "gauge";
    }
  }

  void Line(const std::string& name, const wire::MetricSample& sample, const std::string& bound,
            const std::string& value) {
    std::string labels;
    for (int i = 0; i < sample.labels_size() && i < family_.label_names_size(); ++i) {
      absl::StrAppend(&labels, labels.empty() ? "" : ",", family_.label_names(i), "=\"",
                      Escaped(sample.labels(i)), "\"");
    }
    if (!bound.empty()) {
      absl::StrAppend(&labels, labels.empty() ? "" : ",", "le=\"", bound, "\"");
    }
    absl::StrAppend(&text_, name, labels.empty() ? "" : "{", labels, labels.empty() ? "" : "}", " ",
                    value, "\n");
  }

  void WriteHistogram(const wire::MetricSample& sample) {
    std::uint64_t below = 0;
    for (int i = 0; i < sample.counts_size(); ++i) {
      below += sample.counts(i);
      // A bound is a float in OpenMetrics: 1 is written 1.0.
      const std::string bound = i < family_.bounds_size() ? NumberText(family_.bounds(i)) : "+Inf";
      const bool whole = bound.find_first_of(".eIN") == std::string::npos;
      Line(family_.name() + "_bucket", sample, whole ? bound + ".0" : bound, absl::StrCat(below));
    }
    Line(family_.name() + "_sum", sample, "", absl::StrFormat("%.9g", sample.value()));
    Line(family_.name() + "_count", sample, "", absl::StrCat(below));
  }

  const wire::MetricFamily& family_;
  const bool open_;
  std::string& text_;
};

}  // namespace

bool AcceptsOpenMetrics(const std::string& accept) {
  return absl::StrContains(accept, "application/openmetrics-text");
}

std::string PrintMetrics(const wire::ReadMetricsReply& metrics, bool open_metrics) {
  std::string text;
  for (const wire::MetricFamily& family : metrics.families()) {
    Writer(family, open_metrics, text).Write();
  }
  if (open_metrics) {
    text += "# EOF\n";
  }
  return text;
}

}  // namespace muster::daemon
