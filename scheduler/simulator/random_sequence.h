#pragma once

// A seeded sequence of random numbers, and the distributions that workload models draw from.
//
// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014),
// not the library's distributions, whose sequences differ between libraries. Thread promise: a
// value; one thread at a time. Invariants: the same seed and the same questions give the same
// answers.

#include <cmath>
#include <cstdint>

namespace muster::sim {

class RandomSequence {
 public:
  explicit RandomSequence(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  // Uniform in [0, bound). REQUIRES: bound > 0; small against 2^64.
  std::uint64_t Below(std::uint64_t bound) { return Next() % bound; }

  // Uniform in (0, 1), never its ends: 53 bits.
  double Uniform() { return (static_cast<double>(Next() >> 11U) + 0.5) * 0x1.0p-53; }

  // Normal of mean 0 and variance 1: Box and Muller, "A note on the generation of random normal
  // deviates", Annals of Mathematical Statistics 29, 1958.
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(Uniform()));
    return radius * std::cos(2 * 3.14159265358979323846 * Uniform());
  }

  // Gamma of mean shape * scale: Marsaglia and Tsang, "A simple method for generating gamma
  // variables", ACM TOMS 26(3), 2000. REQUIRES: shape > 0, scale > 0.
  double Gamma(double shape, double scale) {
    if (shape < 1) {
      const double boost = std::pow(Uniform(), 1 / shape);
      return Gamma(shape + 1, scale) * boost;
    }
    const double d = shape - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = Normal();
      const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
      if (v > 0 && std::log(Uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
        return d * v * scale;
      }
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace muster::sim
