#pragma once

// What the health program measures of a node's processors and memory.
//
// Every figure is a median over many short repeats, so that a passing disturbance is not taken for
// the node, and a lasting one is. What was computed is checked: a wrong result is a defect whatever
// its speed. Thread promise: one caller at a time; opens its own OpenMP teams.

#include <vector>

#include "agent/kernels/health/figure.h"

namespace muster::kernels {

// Takes about `seconds` for all. The clock is that of the slowest core, from chains of dependent
// multiplications.
std::vector<Figure> CheckNode(double seconds);

}  // namespace muster::kernels
