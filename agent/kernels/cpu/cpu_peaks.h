#pragma once

// What this node's processors can do at most, measured: fused multiply-adds that never leave the
// registers, and arrays that never fit in a cache. And the facts that a figure of theirs needs.
//
// Thread promise: one caller at a time; opens its own OpenMP team.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "agent/kernels/harness/kernel.h"
#include "agent/kernels/harness/roofline.h"

namespace muster::kernels {

// About a second. The best of several repeats; single precision; bandwidth as the best of reading,
// copying and the triad, each counting what is read once and written once.
Peaks MeasureCpuPeaks();

// What the peaks depend on: processor, SIMD, team size, CPUs that may be used.
std::string CpuPeaksKey();

// {"threads","cpus_allowed","simd"}.
nlohmann::ordered_json CpuFacts();

// Gives a kernel the three above.
void UseCpuPeaks(Kernel* kernel);

}  // namespace muster::kernels
