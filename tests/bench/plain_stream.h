#pragma once

// The baseline of the bandwidth benchmarks: loops as anyone writes them, compiled by -O3
// -march=native with OpenMP, on arrays placed by first touch.
//
// Thread promise: one caller at a time; opens its own team.

#include <cstdint>

#include "agent/kernels/place/memory.h"

namespace muster::kernels {

class PlainStream {
 public:
  explicit PlainStream(int64_t n);

  bool allocated() const {
    return a_.data() != nullptr && b_.data() != nullptr && c_.data() != nullptr;
  }

  // a = b + s * c
  void Triad(double s);

  // The sum of a: each element is read once.
  double Read() const;

 private:
  int64_t n_;
  AlignedArray a_;
  AlignedArray b_;
  AlignedArray c_;
};

}  // namespace muster::kernels
