#include "scheduler/core/plan/search/elastic_size.h"

#include <algorithm>

#include "absl/numeric/int128.h"
#include "scheduler/base/status.h"

namespace muster::core {
namespace {

constexpr unsigned kBits = 62;
constexpr std::uint64_t kOne = std::uint64_t{1} << kBits;
// Binary places of e that count: the rest changes a power by less than 2^-40 of it, times ln 2^16.
constexpr int kPlaces = 40;
constexpr std::uint32_t kWhole = 100;

// floor(sqrt(x)), digit by digit.
std::uint64_t Root(absl::uint128 x) {
  absl::uint128 root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const absl::uint128 trial = root | (absl::uint128(1) << bit);
    root = trial * trial <= x ? trial : root;
  }
  return absl::Uint128Low64(root);
}

std::uint64_t Times(std::uint64_t a, std::uint64_t b) {
  return absl::Uint128Low64((absl::uint128(a) * b) >> kBits);
}

// (n/m)^e as the product of the roots (n/m)^(1/2^i) for the binary places i of e.
std::uint64_t Power(std::uint32_t n, std::uint32_t m, std::uint32_t percent) {
  std::uint64_t root = absl::Uint128Low64((absl::uint128(n) << kBits) / m);
  std::uint64_t power = kOne;
  for (int place = 0; place <= kPlaces && percent > 0; ++place) {
    if (percent >= kWhole) {
      percent -= kWhole;
      power = Times(power, root);
    }
    percent *= 2;
    root = Root(absl::uint128(root) << kBits);
  }
  return power;
}

Duration CostOf(const ElasticStatus& job, const ElasticPolicy& policy) {
  return job.cost > Duration(0) ? job.cost : policy.restart_cost;
}

// Whether a change that is possible is made, and when.
void Settle(const ElasticStatus& job, ResizeVerdict change, const ElasticPolicy& policy, Time now,
            PlannedResize& resize) {
  if (resize.gain <= resize.cost) {
    resize.verdict = ResizeVerdict::kTooLittle;
    return;
  }
  const Time may = job.changed == kNoTime ? now : job.changed + policy.pause_costs * resize.cost;
  if (may > now) {
    resize.verdict = ResizeVerdict::kTooSoon;
    resize.when = may;
    return;
  }
  resize.verdict = change;
  resize.when = job.due == kNoTime ? now + policy.last_call : job.due;
}

}  // namespace

std::uint64_t TimeSaved(std::uint32_t n, std::uint32_t m, std::uint32_t efficiency_percent) {
  MUSTER_CHECK(0 < n && n <= m && 0 < efficiency_percent && efficiency_percent <= kWhole);
  return kOne - Power(n, m, efficiency_percent);
}

Duration GainOf(std::uint32_t n, std::uint32_t m, Duration left, std::uint32_t efficiency_percent) {
  if (n == m || left <= Duration(0)) {
    return Duration(0);
  }
  if (left == kNeverEnds) {
    return kNeverEnds;
  }
  return Duration(static_cast<std::int64_t>(
      Times(static_cast<std::uint64_t>(left.count()), TimeSaved(n, m, efficiency_percent))));
}

PlannedResize JudgeSize(const ElasticStatus& job, const ElasticPolicy& policy, Time now) {
  MUSTER_CHECK(job.nodes > 0 && job.within <= std::max(job.most, job.nodes));
  PlannedResize resize;
  resize.cost = CostOf(job, policy);
  resize.nodes = job.nodes;
  if (job.nodes >= job.most) {
    resize.verdict = ResizeVerdict::kLargest;
    return resize;
  }
  if (job.within <= job.nodes) {
    resize.verdict = ResizeVerdict::kNoRoom;
    return resize;
  }
  resize.nodes = job.within;
  resize.gain = GainOf(job.nodes, job.within, job.left, policy.efficiency_percent);
  Settle(job, ResizeVerdict::kGrow, policy, now, resize);
  return resize;
}

PlannedResize JudgeShrink(const ElasticStatus& job, Duration wait, const ElasticPolicy& policy,
                          Time now) {
  MUSTER_CHECK(0 < job.within && job.within < job.nodes);
  PlannedResize resize;
  resize.cost = CostOf(job, policy);
  resize.nodes = job.within;
  const Duration call =
      job.due == kNoTime ? policy.last_call : std::max(job.due - now, Duration(0));
  resize.gain = wait == kNeverEnds ? wait : std::max(wait - call, Duration(0));
  Settle(job, ResizeVerdict::kShrink, policy, now, resize);
  return resize;
}

}  // namespace muster::core
