#pragma once

// Metrics as text: OpenMetrics 1.0, and Prometheus's older form for who asks for nothing better.
//
// Invariants: what comes out is legal whatever is in the labels; a family is written once, with its
// help and its type before its samples.

#include <string>

#include "proto/metrics.pb.h"

namespace muster::daemon {

inline constexpr const char* kOpenMetricsType =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";
inline constexpr const char* kPlainMetricsType = "text/plain; version=0.0.4; charset=utf-8";

// Whether a request's Accept asks for OpenMetrics.
bool AcceptsOpenMetrics(const std::string& accept);

std::string PrintMetrics(const wire::ReadMetricsReply& metrics, bool open_metrics);

}  // namespace muster::daemon
