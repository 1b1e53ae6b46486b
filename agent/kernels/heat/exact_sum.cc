#include "agent/kernels/heat/exact_sum.h"

#include <bit>
#include <cmath>
#include <limits>

namespace muster::kernels {
namespace {

constexpr uint64_t kLow32 = 0xffffffffULL;
constexpr uint64_t kMaxPending = uint64_t{1} << 29;

}  // namespace

ExactSum ExactSum::FromSlots(const Slots& slots) {
  ExactSum sum;
  sum.slots_ = slots;
  sum.Normalise();
  return sum;
}

void ExactSum::Add(double term) {
  const auto bits = std::bit_cast<uint64_t>(term);
  const uint64_t exponent = (bits >> 52) & 0x7ff;
  if ((bits >> 63) != 0 || exponent == 0x7ff) {
    slots_[kLimbs] += term == 0 ? 0 : 1;  // minus zero is a zero
    return;
  }
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const uint64_t mantissa = exponent == 0 ? fraction : fraction | (uint64_t{1} << 52);
  // The mantissa's lowest bit stands for 2^(position - 1074).
  const uint64_t position = exponent == 0 ? 0 : exponent - 1;
  const size_t limb = static_cast<size_t>(position / 32);
  const uint64_t shift = position % 32;
  const uint64_t low = (mantissa & kLow32) << shift;
  const uint64_t high = (mantissa >> 32) << shift;
  slots_[limb] += low & kLow32;
  slots_[limb + 1] += (low >> 32) + (high & kLow32);
  slots_[limb + 2] += high >> 32;
  if (++pending_ == kMaxPending) {
    Normalise();
  }
}

void ExactSum::Merge(const ExactSum& other) {
  Normalise();
  const Slots slots = other.NormalisedSlots();
  for (size_t i = 0; i < kSlots; ++i) {
    slots_[i] += slots[i];
  }
  Normalise();
}

ExactSum::Slots ExactSum::NormalisedSlots() const {
  ExactSum copy = *this;
  copy.Normalise();
  return copy.slots_;
}

double ExactSum::Value() const {
  const Slots slots = NormalisedSlots();
  if (slots[kLimbs] != 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  size_t top = kLimbs;
  while (top > 0 && slots[top - 1] == 0) {
    --top;
  }
  if (top == 0) {
    return 0;
  }
  // The 64 leading bits; what lies below them only decides a tie, so it is folded into the lowest
  // bit.
  const uint64_t first = slots[top - 1];
  const uint64_t second = top >= 2 ? slots[top - 2] : 0;
  const uint64_t third = top >= 3 ? slots[top - 3] : 0;
  const int lead = std::countl_zero(first) - 32;
  uint64_t leading = ((first << 32) | second) << lead;
  leading |= (third << lead) >> 32;
  bool rest = ((third << lead) & kLow32) != 0;
  for (size_t i = 0; i + 3 < top; ++i) {
    rest = rest || slots[i] != 0;
  }
  leading |= rest ? 1 : 0;
  const int exponent = 32 * (static_cast<int>(top) - 2) - lead - 1074;
  return std::ldexp(static_cast<double>(leading), exponent);
}

void ExactSum::Normalise() {
  uint64_t carry = 0;
  for (size_t i = 0; i < kLimbs; ++i) {
    const uint64_t limb = slots_[i] + carry;
    slots_[i] = limb & kLow32;
    carry = limb >> 32;
  }
  pending_ = 0;
}

}  // namespace muster::kernels
