#include "cli/page/quantity.h"

#include <csignal>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {

std::string MomentText(Time time, absl::TimeZone zone) {
  return time == kNoTime
             ? "-"
             : absl::FormatTime("%Y-%m-%d %H:%M:%S",
                                absl::FromUnixMillis(time.time_since_epoch().count()), zone);
}

Duration CpuTime(const Usage& usage) {
  return usage.user_cpu + usage.system_cpu;
}

bool IsMeasured(const Usage& usage) {
  return CpuTime(usage).count() > 0 || usage.peak_memory.value() > 0 ||
         usage.group_memory.value() > 0;
}

std::string CpuEfficiency(const Usage& usage, Duration elapsed, std::uint32_t cpus) {
  if (elapsed.count() <= 0 || cpus == 0 || !IsMeasured(usage)) {
    return "";
  }
  const double share = static_cast<double>(CpuTime(usage).count()) /
                       (static_cast<double>(elapsed.count()) * static_cast<double>(cpus));
  return absl::StrFormat("%.0f %%", share * 100.0);
}

std::uint64_t EnergyOf(const Usage& usage) {
  return usage.gpu_energy_mj + usage.cpu_energy_mj;
}

std::string EnergyText(std::uint64_t millijoules) {
  constexpr double kMillijoulesInWattHour = 3.6e6;
  const double watt_hours = static_cast<double>(millijoules) / kMillijoulesInWattHour;
  if (watt_hours < 1) {
    return absl::StrFormat("%.0f J", static_cast<double>(millijoules) / 1000);
  }
  return watt_hours < 1000 ? absl::StrFormat("%.1f Wh", watt_hours)
                           : absl::StrFormat("%.1f kWh", watt_hours / 1000);
}

std::string CostText(Cost cost, const std::string& currency) {
  constexpr std::uint64_t kHundredth = kCostUnit / 100;
  if (!currency.empty() && cost.value() > 0 && cost.value() < kHundredth) {
    return absl::StrCat("< 0.01 ", currency);
  }
  const double amount = static_cast<double>(cost.value()) / kCostUnit;
  return currency.empty() ? "" : absl::StrFormat("%.2f %s", amount, currency);
}

std::optional<double> ShareOf(std::optional<Duration> amount, Duration time) {
  return amount.has_value() && time.count() > 0
             ? std::optional(static_cast<double>(amount->count()) /
                             static_cast<double>(time.count()))
             : std::nullopt;
}

std::string PercentText(double share) {
  return absl::StrFormat("%.0f %%", share * 100.0);
}

std::string ByteRateText(double bytes_a_second) {
  return BytesText(static_cast<std::uint64_t>(bytes_a_second)) + "/s";
}

std::string GpuEfficiency(const Usage& usage, Duration elapsed, std::uint32_t gpus) {
  // A GPU that was idle at every look has a little (agent/node/usage_sampler.h).
  if (gpus == 0 || elapsed.count() <= 0 || usage.gpu_busy.count() == 0) {
    return "";
  }
  const Duration time = usage.gpu_watched.count() > 0 ? usage.gpu_watched : elapsed * gpus;
  return PercentText(*ShareOf(usage.gpu_busy, time));
}

std::string GpuUseText(const Usage& usage, Duration elapsed, std::uint32_t gpus) {
  if (gpus == 0 || elapsed.count() <= 0) {
    return "";
  }
  if (usage.gpu_busy.count() == 0 && usage.gpu_memory.value() == 0 && usage.gpu_energy_mj == 0) {
    return "not sampled";
  }
  const std::string busy = GpuEfficiency(usage, elapsed, gpus);
  std::string text =
      busy.empty() ? "busy time not sampled" : absl::StrCat(busy, " of ", Counted(gpus, "GPU"));
  if (usage.gpu_memory.value() > 0) {
    absl::StrAppend(&text, ", at most ", BytesText(usage.gpu_memory.value()), " of one");
  }
  if (usage.gpu_energy_mj > 0) {
    absl::StrAppend(&text, ", ", EnergyText(usage.gpu_energy_mj));
  }
  return text;
}

std::string ExitText(ExitStatus status) {
  if (status.signal == 0) {
    return absl::StrCat("exit code ", status.code);
  }
  const char* name = sigabbrev_np(status.signal);
  return name == nullptr ? absl::StrCat("signal ", status.signal)
                         : absl::StrCat("signal ", status.signal, " (SIG", name, ")");
}

}  // namespace muster::cli
