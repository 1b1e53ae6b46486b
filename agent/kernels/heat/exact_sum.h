#pragma once

// A sum of non-negative doubles without rounding: the terms are added as integers in a fixed-point
// number that spans the whole range of a double. Integer addition is associative, so the sum does
// not depend on the order of the terms nor on how they were spread over threads and ranks: only
// Value() rounds, once.
//
// Thread promise: one owner; merge the sums of several threads.
// Invariants: limb i counts units of 2^(32 i - 1074), limbs 0..64 take terms and the next three
// their carries; the last slot counts terms that were negative or not finite. Limbs hold at most
// 2^63 between normalisations.

#include <array>
#include <cstddef>
#include <cstdint>

namespace muster::kernels {

class ExactSum {
 public:
  static constexpr size_t kLimbs = 68;
  static constexpr size_t kSlots = kLimbs + 1;
  using Slots = std::array<uint64_t, kSlots>;

  ExactSum() = default;

  // A sum from slots that were added up element by element from at most 2^31 normalised sums.
  static ExactSum FromSlots(const Slots& slots);

  void Add(double term);
  void Merge(const ExactSum& other);

  // The slots with every limb below 2^32: fit for an element-wise sum over ranks.
  Slots NormalisedSlots() const;

  // The sum, rounded once to nearest-even; infinity beyond the range; NaN after a term that was not
  // a finite non-negative number.
  double Value() const;

 private:
  void Normalise();

  Slots slots_{};
  uint64_t pending_ = 0;  // terms added since the last normalisation
};

}  // namespace muster::kernels
