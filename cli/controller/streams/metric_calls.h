#pragma once

// The call for what the controller measures of itself.
//
// Beside Connection, as the calls about tokens are. Thread promise: safe from any thread; each call
// blocks its own. Invariant: errors are one line, and never InvalidArgument.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/address.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

struct MetricValue {
  std::vector<std::string> labels;
  double value = 0;         // of a histogram: the sum of what it counted
  std::uint64_t count = 0;  // of a histogram
};

struct Metrics {
  Time time = kNoTime;
  std::map<std::string, std::vector<MetricValue>> families;  // by name

  // The first value of the family; a fresh one where there is none.
  [[nodiscard]] MetricValue First(const std::string& name) const;
};

absl::StatusOr<Metrics> ReadMetrics(const Address& address);

}  // namespace muster::cli
