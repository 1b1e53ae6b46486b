#include "topology/cpu_energy_meter.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"

namespace muster::topology {
namespace {

std::optional<std::uint64_t> ReadNumber(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  std::uint64_t number = 0;
  return text.ok() && absl::SimpleAtoi(*text, &number) ? std::optional(number) : std::nullopt;
}

// "intel-rapl:0" is a package or the whole platform, "intel-rapl:0:1" a part of one; the same
// package once more is "intel-rapl-mmio:0".
bool IsPackage(const std::string& zone, const std::string& path) {
  constexpr const char* kPrefix = "intel-rapl:";
  const absl::StatusOr<std::string> name = ReadFile(path + "/name");
  return absl::StartsWith(zone, kPrefix) && zone.find(':') == zone.rfind(':') && name.ok() &&
         absl::StartsWith(*name, "package");
}

}  // namespace

std::unique_ptr<CpuEnergyMeter> CpuEnergyMeter::Open(const std::string& root) {
  std::vector<Package> packages;
  std::error_code error;
  std::filesystem::directory_iterator entry(root, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    const std::string path = entry->path().string();
    if (IsPackage(entry->path().filename().string(), path)) {
      const std::optional<std::uint64_t> now = ReadNumber(path + "/energy_uj");
      const std::optional<std::uint64_t> range = ReadNumber(path + "/max_energy_range_uj");
      if (now.has_value() && range.has_value()) {
        packages.push_back({path + "/energy_uj", *range, *now});
      }
    }
    entry.increment(error);
  }
  return packages.empty()
             ? nullptr
             : std::unique_ptr<CpuEnergyMeter>(new CpuEnergyMeter(std::move(packages)));
}

std::uint64_t CpuEnergyMeter::Read() {
  for (Package& package : packages_) {
    const std::optional<std::uint64_t> now = ReadNumber(package.path);
    if (!now.has_value()) {
      continue;  // counted when it answers again
    }
    sum_ += *now >= package.last ? *now - package.last : *now + (package.range - package.last);
    package.last = *now;
  }
  return sum_;
}

}  // namespace muster::topology
