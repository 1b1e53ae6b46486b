#pragma once

// Seeded input values without state: the value at an index depends on (seed, index) only, so every
// thread and rank makes its own part and any cut of the index space gives the same data.

#include <cstdint>

namespace muster::kernels {

// Number in [0, 1), a multiple of 2^-53. The mixing steps are those of SplitMix64 (Steele, Lea,
// Flood 2014).
inline double SeededUnit(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0xd1342543de82ef95ULL + (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1.0p-53;
}

}  // namespace muster::kernels
