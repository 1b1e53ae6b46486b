#pragma once

// What the kernel counts of a node's defects: errors of its memory, and how often the processors
// throttled themselves.
//
// Memory errors by EDAC (/sys/devices/system/edac), throttling by
// /sys/devices/system/cpu/cpu*/thermal_throttle; a machine that counts none of a kind says nothing
// of it. Thread promise: reads files only.

#include <optional>
#include <string>
#include <vector>

#include "agent/kernels/health/figure.h"

namespace muster::kernels {

struct NodeCounters {
  std::optional<double> uncorrected;  // memory errors since the boot
  std::optional<double> corrected;
  std::optional<double> throttled;  // times that a core or a package was too hot
};

// `root` is put before /sys.
NodeCounters ReadCounters(const std::string& root = "");

// What a check that began at `before` and ended at `after` has to say.
std::vector<Figure> CounterFigures(const NodeCounters& before, const NodeCounters& after);

}  // namespace muster::kernels
