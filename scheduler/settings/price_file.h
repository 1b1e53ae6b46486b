#pragma once

// Prices from a configuration:
//
//   [price]
//   currency = "EUR"
//   cpu_hour = 0.01           # also gpu_hour, memory_gib_hour, node_hour, billing_hour, kwh
//   [price.2027-01-01]        # from that day on; what it does not name stays as it was
//   gpu_hour = 1.10
//
// Invariants: a price has a currency; a day begins at midnight of the machine's time zone.

#include "absl/status/status.h"
#include "scheduler/model/settings/prices.h"
#include "scheduler/runtime/config_file.h"

namespace muster {

// InvalidArgument is "FILE:LINE: KEY: PROBLEM".
absl::Status ReadPrices(ConfigFile& file, Prices& prices);

}  // namespace muster
