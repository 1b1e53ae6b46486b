#pragma once

// Usage that decays, as it is stored: an amount that was scaled to a fixed instant, so that it
// changes only when usage is added to it and never because time goes by.
//
// core/share/decay.h has the arithmetic. Invariants: (1) amounts are whole grains, 10^-12 of a
// billing-second; (2) an amount of period p is worth what it says at the beginning of that period
// (p times 16 half-lives after the epoch), and half as much with each half-life after; (3) without
// decay the period is 0.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

// Millionths of a billing unit: what a job is charged for each second (core/share/billing.h).
using BillingRate = Amount<struct BillingRateTag, std::uint64_t>;
inline constexpr BillingRate kBillingRateMax{10'000'000'000'000'000};  // 10^10 units
// Millionths of a billing-second: usage as it is shown.
using ShownUsage = Amount<struct ShownUsageTag, std::uint64_t>;

inline constexpr std::uint64_t kGrainsPerSecond = 1'000'000'000'000;  // of a billing unit

struct DecayedUsage {
  std::int64_t period = 0;
  std::uint64_t high = 0;  // of the 128 bits of the amount
  std::uint64_t low = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"period", &DecayedUsage::period}, Field{"high", &DecayedUsage::high},
                Field{"low", &DecayedUsage::low});
  }
  friend bool operator==(const DecayedUsage&, const DecayedUsage&) = default;
};

// A stretch of time in which a job was charged at a constant rate: [from, until).
struct ChargedRun {
  JobId job;
  BillingRate rate;
  Time from = kNoTime;
  Time until = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &ChargedRun::job}, Field{"rate", &ChargedRun::rate},
                Field{"from", &ChargedRun::from}, Field{"until", &ChargedRun::until});
  }
  friend bool operator==(const ChargedRun&, const ChargedRun&) = default;
};

// What is left of one run.
struct ReceiptLine {
  JobId job;
  ShownUsage part;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &ReceiptLine::job}, Field{"part", &ReceiptLine::part});
  }
  friend bool operator==(const ReceiptLine&, const ReceiptLine&) = default;
};

// Why a usage is what it is. The lines' parts and `earlier` add up to `total`, to the last digit.
struct UsageReceipt {
  ShownUsage total;
  std::vector<ReceiptLine> lines;  // one for each run, in the order of the runs
  ShownUsage earlier;              // what is left of runs that are not listed
  static constexpr auto Fields(auto list) {
    return list(Field{"total", &UsageReceipt::total}, Field{"lines", &UsageReceipt::lines},
                Field{"earlier", &UsageReceipt::earlier});
  }
  friend bool operator==(const UsageReceipt&, const UsageReceipt&) = default;
};

}  // namespace muster
