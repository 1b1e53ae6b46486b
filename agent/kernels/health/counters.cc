#include "agent/kernels/health/counters.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace muster::kernels {
namespace {

namespace fs = std::filesystem;

// Adds what the file holds; a file that is not there leaves the sum as it is.
void AddFile(const fs::path& path, std::optional<double>* sum) {
  std::ifstream file(path);
  double value = 0;
  if (file >> value) {
    *sum = sum->value_or(0) + value;
  }
}

// Calls visit(path) for each entry of `directory` whose name is `prefix` and a number.
template <class Visitor>
void ForEachNumbered(const fs::path& directory, const std::string& prefix, Visitor&& visit) {
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.size() > prefix.size() && name.compare(0, prefix.size(), prefix) == 0 &&
        name.find_first_not_of("0123456789", prefix.size()) == std::string::npos) {
      visit(it->path());
    }
  }
}

}  // namespace

NodeCounters ReadCounters(const std::string& root) {
  NodeCounters counters;
  const fs::path devices = root + "/sys/devices/system";
  ForEachNumbered(devices / "edac/mc", "mc", [&](const fs::path& controller) {
    AddFile(controller / "ue_count", &counters.uncorrected);
    AddFile(controller / "ce_count", &counters.corrected);
  });
  ForEachNumbered(devices / "cpu", "cpu", [&](const fs::path& cpu) {
    AddFile(cpu / "thermal_throttle/core_throttle_count", &counters.throttled);
    AddFile(cpu / "thermal_throttle/package_throttle_count", &counters.throttled);
  });
  return counters;
}

std::vector<Figure> CounterFigures(const NodeCounters& before, const NodeCounters& after) {
  std::vector<Figure> figures;
  if (after.uncorrected.has_value()) {
    figures.push_back({"uncorrected memory errors", "", Better::kNever, *after.uncorrected, 0});
  }
  if (after.corrected.has_value()) {
    figures.push_back({"corrected memory errors", "", Better::kShown, *after.corrected, 0});
  }
  if (before.throttled.has_value() && after.throttled.has_value()) {
    figures.push_back({"thermal throttling", "events", Better::kLower,
                       std::max(0.0, *after.throttled - *before.throttled), 0});
  }
  return figures;
}

}  // namespace muster::kernels
