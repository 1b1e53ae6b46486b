#include "scheduler/core/place/estimate/gpu_sheet.h"

namespace muster::core {

const std::vector<GpuSheet>& GpuSheets() {
  static const std::vector<GpuSheet> sheets = {
      {"t4", 16, 65e12, 320e9, 70},           {"v100", 32, 125e12, 900e9, 300},
      {"a100-40", 40, 312e12, 1555e9, 400},   {"l40s", 48, 362e12, 864e9, 350},
      {"mi250x", 64, 191.5e12, 1638e9, 280},  {"a100", 80, 312e12, 2039e9, 400},
      {"h100", 80, 989.4e12, 3350e9, 700},    {"h200", 141, 989.4e12, 4800e9, 700},
      {"mi300x", 192, 1307.4e12, 5300e9, 750}};
  return sheets;
}

std::optional<GpuSheet> FindGpuSheet(std::string_view name) {
  for (const GpuSheet& sheet : GpuSheets()) {
    if (name == sheet.name) {
      return sheet;
    }
  }
  return std::nullopt;
}

}  // namespace muster::core
