#pragma once

// Units: amounts of one thing that cannot be added to amounts of another.
//
// Invariants: (1) subtraction never goes below zero (it is checked); (2) GPU shares are fixed
// point, 1000 to a whole GPU.

#include <compare>
#include <cstdint>

#include "scheduler/base/status.h"

namespace muster {

template <class Tag, class Rep>
class Amount {
 public:
  using rep = Rep;
  constexpr Amount() = default;
  constexpr explicit Amount(Rep value) : value_(value) {}
  [[nodiscard]] constexpr Rep value() const { return value_; }
  [[nodiscard]] constexpr bool zero() const { return value_ == 0; }
  friend constexpr auto operator<=>(Amount, Amount) = default;  // NOLINT(modernize-use-nullptr)
  constexpr Amount& operator+=(Amount other) {
    value_ = static_cast<Rep>(value_ + other.value_);
    return *this;
  }
  // REQUIRES: other <= *this.
  constexpr Amount& operator-=(Amount other) {
    MUSTER_CHECK(other.value_ <= value_);
    value_ = static_cast<Rep>(value_ - other.value_);
    return *this;
  }
  friend constexpr Amount operator+(Amount a, Amount b) { return a += b; }
  friend constexpr Amount operator-(Amount a, Amount b) { return a -= b; }
  friend constexpr Amount operator*(Amount a, std::uint64_t times) {
    return Amount(static_cast<Rep>(a.value_ * times));
  }

 private:
  Rep value_ = 0;
};

// Bytes of memory.
using Bytes = Amount<struct BytesTag, std::uint64_t>;
// Hardware threads (what Slurm calls CPUs).
using CpuCount = Amount<struct CpuTag, std::uint32_t>;
// Thousandths of a GPU.
using GpuShare = Amount<struct GpuShareTag, std::uint32_t>;

inline constexpr GpuShare kWholeGpu{1000};
inline constexpr Bytes kMebibyte{std::uint64_t{1} << 20};
inline constexpr Bytes kGibibyte{std::uint64_t{1} << 30};
// What a counter has more than it had; nothing where it began again.
template <class Counter>
constexpr Counter GrownBy(Counter now, Counter before) {
  return now > before ? now - before : Counter();
}

// Millionths of the site's currency.
using Cost = Amount<struct CostTag, std::uint64_t>;
inline constexpr std::uint64_t kCostUnit = 1'000'000;

}  // namespace muster
