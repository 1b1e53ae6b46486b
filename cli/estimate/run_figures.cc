#include "cli/estimate/run_figures.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/estimate/estimate_values.h"
#include "scheduler/base/status.h"
#include "scheduler/core/place/estimate/gpu_sheet.h"
#include "scheduler/core/place/estimate/run_cost.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/settings/price_file.h"

namespace muster::cli {
namespace {

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;

absl::StatusOr<GpuFigures> FiguresOfSheet(const std::string& name) {
  const std::optional<core::GpuSheet> sheet = core::FindGpuSheet(name);
  if (!sheet) {
    std::string known;
    for (const core::GpuSheet& one : core::GpuSheets()) {
      absl::StrAppend(&known, known.empty() ? "" : ", ", one.name);
    }
    return absl::InvalidArgumentError(
        absl::StrCat("--gpu: ", Quote(name), " is not known: use ", known,
                     "; or --gpu-flops, --memory-bandwidth, --gpu-memory and --watts"));
  }
  return GpuFigures{.name = sheet->name,
                    .memory = Bytes(sheet->memory_gib * kGibibyte),
                    .flops = sheet->flops,
                    .bytes_per_second = sheet->bytes_per_second,
                    .watts = sheet->watts};
}

absl::Status UseConfiguredPrices(const std::string& path, RunPrices& prices) {
  ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Load(path));
  Prices configured;
  RETURN_IF_ERROR(ReadPrices(file, configured));
  if (configured.steps.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--prices: ", path, " has no [price]: use --price-gpu-hour"));
  }
  prices.currency = configured.currency;
  const Time now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  for (const PriceStep& step : configured.steps) {
    if (step.since <= now) {
      prices.gpu_hour = static_cast<double>(step.gpu_hour) / kCostUnit;
      prices.kwh = static_cast<double>(step.kwh) / kCostUnit;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GpuFigures> ReadGpuFigures(const Invocation& invocation) {
  GpuFigures figures;
  if (invocation.Has("gpu")) {
    ASSIGN_OR_RETURN(figures, FiguresOfSheet(invocation.Value("gpu")));
  }
  if (invocation.Has("gpu-flops")) {
    ASSIGN_OR_RETURN(const std::uint64_t flops, ScaledOf(invocation, "gpu-flops"));
    figures.flops = static_cast<double>(flops);
  }
  if (invocation.Has("memory-bandwidth")) {
    ASSIGN_OR_RETURN(figures.bytes_per_second, BandwidthOf(invocation, "memory-bandwidth"));
  }
  if (invocation.Has("watts")) {
    ASSIGN_OR_RETURN(figures.watts, AmountOf(invocation, "watts"));
  }
  return figures;
}

absl::StatusOr<RunPrices> ReadRunPrices(const Invocation& invocation) {
  RunPrices prices;
  if (invocation.Has("prices")) {
    RETURN_IF_ERROR(UseConfiguredPrices(invocation.Value("prices"), prices));
  }
  if (invocation.Has("price-gpu-hour")) {
    ASSIGN_OR_RETURN(prices.gpu_hour, AmountOf(invocation, "price-gpu-hour"));
  }
  if (invocation.Has("price-kwh")) {
    ASSIGN_OR_RETURN(prices.kwh, AmountOf(invocation, "price-kwh"));
  }
  if (invocation.Has("pue")) {
    ASSIGN_OR_RETURN(prices.pue, AmountOf(invocation, "pue"));
    if (prices.pue < 1) {
      return absl::InvalidArgumentError(
          "--pue: a data centre takes no less than its machines: use 1 or more");
    }
  }
  return prices;
}

RunCost CostOfRun(double gpu_hours, const GpuFigures& gpu, const RunPrices& prices) {
  RunCost cost{.gpu_hours = gpu_hours,
               .kwh = std::nullopt,
               .price = std::nullopt,
               .currency = prices.currency};
  if (gpu.watts) {
    cost.kwh = core::EnergyOf(gpu_hours, *gpu.watts, prices.pue);
  }
  if (prices.gpu_hour) {
    cost.price = gpu_hours * *prices.gpu_hour;
  }
  if (prices.kwh && cost.kwh) {
    cost.price = cost.price.value_or(0) + *cost.kwh * *prices.kwh;
  }
  return cost;
}

std::string SpanText(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 60 * kMinute;
  constexpr double kDay = 24 * kHour;
  if (seconds < 1) {
    return absl::StrFormat("%.3g ms", seconds * 1000);
  }
  if (seconds < 2 * kMinute) {
    return absl::StrFormat("%.3g s", seconds);
  }
  if (seconds < 2 * kHour) {
    return absl::StrFormat("%.3g min", seconds / kMinute);
  }
  return seconds < 2 * kDay ? absl::StrFormat("%.3g h", seconds / kHour)
                            : absl::StrFormat("%.4g d", seconds / kDay);
}

std::string KwhText(double kwh) {
  return kwh < 10'000 ? absl::StrFormat("%.4g kWh", kwh) : absl::StrFormat("%.4g MWh", kwh / 1000);
}

std::string PriceText(double price, const std::string& currency) {
  const std::string number =
      price < 1000 ? absl::StrFormat("%.4g", price) : absl::StrFormat("%.0f", price);
  return currency.empty() ? "price " + number : absl::StrCat(number, " ", currency);
}

}  // namespace muster::cli
