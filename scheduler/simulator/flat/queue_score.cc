#include "scheduler/simulator/flat/queue_score.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace muster::sim {
namespace {

constexpr int kLogBits = 52;
constexpr double kLogUnit = 1.0 / static_cast<double>(std::uint64_t{1} << kLogBits);
constexpr double kLog10Of2 = 0.30102999566398119521;
constexpr double kGrid = 1 << 20;

double Log10(Tick value) {
  const auto fixed = Log2Fixed(static_cast<std::uint64_t>(std::max<Tick>(value, 1)));
  return static_cast<double>(fixed) * kLogUnit * kLog10Of2;
}

// The upper half of the 128-bit product.
std::uint64_t HighProduct(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kLow = 0xffffffffU;
  const std::uint64_t low = (a & kLow) * (b & kLow);
  const std::uint64_t left = (a >> 32) * (b & kLow) + (low >> 32);
  const std::uint64_t right = (a & kLow) * (b >> 32) + (left & kLow);
  return (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32);
}

double OnGrid(double score) {
  return std::nearbyint(score * kGrid) / kGrid;
}

// To 40 bits.
double Shortened(double score) {
  constexpr int kBits = 40;
  int exponent = 0;
  const double fraction = std::frexp(score, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, kBits)), exponent - kBits);
}

double Wfp3(double wait, double estimate, double processors) {
  const double ratio = wait / estimate;
  return -(ratio * ratio * ratio * processors);
}

double Unicep(double wait, double estimate, std::int64_t processors) {
  if (wait == 0) {
    return 0;
  }
  if (processors == 1) {
    return -std::numeric_limits<double>::infinity();
  }
  const double log2 =
      static_cast<double>(Log2Fixed(static_cast<std::uint64_t>(processors))) * kLogUnit;
  return -Shortened(wait / estimate / log2);
}

}  // namespace

// Bit by bit: squaring a number of [1, 2) tells whether the next bit of its logarithm is set.
std::int64_t Log2Fixed(std::uint64_t value) {
  const int whole = 63 - std::countl_zero(value);
  std::uint64_t fraction = value << (63 - whole);  // of [1, 2), 63 bits behind the point
  std::int64_t log = whole;
  for (int bit = 0; bit < kLogBits; ++bit) {
    const std::uint64_t square = HighProduct(fraction, fraction);  // of [1, 4), 62 bits
    const bool is_set = square >> 63 != 0;
    fraction = is_set ? square : square << 1;
    log = log * 2 + (is_set ? 1 : 0);
  }
  return log;
}

bool ScoreMoves(FlatOrder order) {
  return order == FlatOrder::kWfp3 || order == FlatOrder::kUnicep || order == FlatOrder::kFairshare;
}

double QueueScore(FlatOrder order, std::int64_t processors, Tick submit, Tick estimate, Tick now) {
  const auto n = static_cast<double>(processors);
  const auto r = static_cast<double>(estimate);
  const auto wait = static_cast<double>(now - submit);
  switch (order) {
    case FlatOrder::kArrival:
    case FlatOrder::kFairshare:
    case FlatOrder::kPrompt:
      return 0;
    case FlatOrder::kSjf:
      return r;
    case FlatOrder::kWfp3:
      return Wfp3(wait, r, n);
    case FlatOrder::kUnicep:
      return Unicep(wait, r, processors);
    case FlatOrder::kF1:
      return OnGrid(Log10(estimate) * n + 870 * Log10(submit));
    case FlatOrder::kF2:
      return OnGrid(std::sqrt(r) * n + 25600 * Log10(submit));
    case FlatOrder::kF3:
      return OnGrid(r * n + 6860000 * Log10(submit));
    case FlatOrder::kF4:
      return OnGrid(r * std::sqrt(n) + 530000 * Log10(submit));
  }
  return 0;
}

}  // namespace muster::sim
