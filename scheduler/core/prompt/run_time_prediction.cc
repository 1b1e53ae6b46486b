#include "scheduler/core/prompt/run_time_prediction.h"

#include <algorithm>
#include <array>

namespace muster::core {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 3600;
constexpr std::array<std::int64_t, 11> kCorrections = {
    kMinute,   5 * kMinute, 15 * kMinute, 30 * kMinute, kHour,      2 * kHour,
    5 * kHour, 10 * kHour,  20 * kHour,   50 * kHour,   100 * kHour};

}  // namespace

void LastTwoPrediction::Observe(std::int64_t user, std::int64_t run_time) {
  Pair& pair = users_[user];
  pair.before = pair.last;
  pair.last = run_time;
}

std::int64_t LastTwoPrediction::Predict(std::int64_t user, std::int64_t requested) const {
  const auto found = users_.find(user);
  if (found == users_.end() || found->second.before == 0) {
    return requested;
  }
  const std::int64_t mean = (found->second.last + found->second.before) / 2;
  return std::min(std::max<std::int64_t>(mean, 1), requested);
}

std::int64_t CorrectedPrediction(std::int64_t prediction, std::uint32_t corrections,
                                 std::int64_t limit) {
  const std::size_t step = std::min<std::size_t>(corrections, kCorrections.size() - 1);
  return std::min(prediction + kCorrections[step], limit);
}

}  // namespace muster::core
