#pragma once

// What GPUs reach and use, and what their hours cost: read from options, and reckoned for a run.
//
// A type of GPU that is named gives what its data sheet says; an option of one figure goes before
// it. Prices come from [price] of a configuration, those that hold now, and options go before them.
// Reads one file when --prices names it; otherwise pure.

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "scheduler/model/value/units.h"

namespace muster::cli {

struct GpuFigures {
  std::string name;  // empty: none was named
  std::optional<Bytes> memory;
  std::optional<double> flops;             // operations a second, at the peak
  std::optional<double> bytes_per_second;  // of its memory, at the peak
  std::optional<double> watts;
};

struct RunPrices {
  std::string currency;  // empty: none is known
  std::optional<double> gpu_hour;
  std::optional<double> kwh;
  double pue = 1;  // energy of the data centre for that of its machines
};

// An estimate: GPUs at their limit of power all the time, hosts and network not counted.
struct RunCost {
  double gpu_hours = 0;
  std::optional<double> kwh;
  std::optional<double> price;  // of the hours and of the energy
  std::string currency;
};

absl::StatusOr<GpuFigures> ReadGpuFigures(const Invocation& invocation);

absl::StatusOr<RunPrices> ReadRunPrices(const Invocation& invocation);

RunCost CostOfRun(double gpu_hours, const GpuFigures& gpu, const RunPrices& prices);

// "3.2 s", "41 min", "37 h", "34 d": three digits.
std::string SpanText(double seconds);
// "1.2 kWh", "449 MWh".
std::string KwhText(double kwh);
// "5576000 USD"; without a currency "price 5576000".
std::string PriceText(double price, const std::string& currency);

}  // namespace muster::cli
