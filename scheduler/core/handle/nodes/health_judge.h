#pragma once

// What a check's figures say of a node, beside those of its class.
//
// A figure is slow when it is worse than the class's median by more than `mad` scaled median
// absolute deviations (1.4826 MAD is a normal distribution's standard deviation) and by more than
// `slack_percent` of the median, so that a class that is very even raises no alarm about nothing.
// While a class has too few samples nothing is judged but defects. The roof, which is the best that
// the node was seen to do in a moment, is shown and not judged by: how far below it a node works
// depends on its neighbours and its cooling, and is the class's to say. Thread promise: pure; whole
// numbers only.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/machine/health.h"
#include "scheduler/model/settings/health_policy.h"

namespace muster::core {

// REQUIRES: `pool` are good values of this component from nodes of one class.
HealthVerdict Judge(HealthFigure figure, std::vector<std::uint64_t> pool,
                    const HealthPolicy& policy);

// A component that the node had the last time and does not tell of now.
HealthVerdict Missing(const HealthVerdict& before);

// The worst of them; kUnjudged when there is nothing better to say.
HealthStatus WorstOf(const std::vector<HealthVerdict>& verdicts);

// "memory bandwidth 41.2 GB/s, class median 88 GB/s (MAD 1.2)" of all that are `status`.
std::string TextOf(const std::vector<HealthVerdict>& verdicts, HealthStatus status);
// Their names only: "memory bandwidth, clock".
std::string NamesOf(const std::vector<HealthVerdict>& verdicts, HealthStatus status);

// Thousandths as a decimal with at most three significant digits after the point: "41.2", "0.005".
std::string Thousandths(std::uint64_t value);

}  // namespace muster::core
