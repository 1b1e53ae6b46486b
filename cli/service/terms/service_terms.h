#pragma once

// What the user asked of a service: how many replicas, and by which rule that number follows load.
//
// It stands in the comment of the service's jobs, so it goes with each submission and outlives
// every program. Pure. Invariants: what TermsText writes, ReadTerms reads back; of two texts the
// one with the higher `change` is the later one; a text of another kind is nothing.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/model/value/time.h"

namespace muster::cli {

// As many replicas as keep what each reports at the target, within bounds.
struct ScaleRule {
  std::uint32_t least = 1;                    // at least 1
  std::uint32_t most = 1;                     // not less than `least`
  std::string metric;                         // as programs report it: "inflight"
  double target = 1;                          // of a replica; above 0
  Duration window = std::chrono::minutes(1);  // over which a replica's reports are averaged
  Duration settle = std::chrono::minutes(5);  // how long fewer would have done before there are
  friend bool operator==(const ScaleRule&, const ScaleRule&) = default;
};

struct ServiceTerms {
  std::uint64_t change = 0;
  std::uint32_t replicas = 0;          // 0: the service is stopped
  std::uint32_t rolling = 1;           // how many at a time roll replaces
  std::uint32_t further = 0;           // that many more are meant, while it is rolled over
  Time further_until = kNoTime;        // and not after that, should the rolling have died
  std::optional<ScaleRule> rule = {};  // none: the number is fixed
  friend bool operator==(const ServiceTerms&, const ServiceTerms&) = default;
};

// How many replicas there may be at that time.
std::uint32_t MostMeant(const ServiceTerms& terms, Time now);

std::string TermsText(const ServiceTerms& terms);
std::optional<ServiceTerms> ReadTerms(const std::string& text);

// "2-8 by inflight/10"; "" without a rule.
std::string RuleText(const ServiceTerms& terms);

}  // namespace muster::cli
