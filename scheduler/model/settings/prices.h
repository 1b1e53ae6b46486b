#pragma once

// What a site asks for what jobs hold and use: in its currency, for an hour of each.
//
// Prices change; an attempt is charged by those that held when it began. Invariants: (1) prices are
// in units of Cost, millionths of the currency; (2) `steps` is in the order of `since`, and the
// first is from the beginning of time.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

struct PriceStep {
  Time since = kNoTime;
  std::uint64_t cpu_hour = 0;
  std::uint64_t gpu_hour = 0;
  std::uint64_t memory_gib_hour = 0;
  std::uint64_t node_hour = 0;
  std::uint64_t billing_hour = 0;  // of one unit of what priority.billing weighs
  std::uint64_t kwh = 0;           // of measured energy
  friend bool operator==(const PriceStep&, const PriceStep&) = default;
};

struct Prices {
  std::string currency;  // "EUR"; empty: nothing has a price
  std::vector<PriceStep> steps = {};
  friend bool operator==(const Prices&, const Prices&) = default;
};

}  // namespace muster
