#include "scheduler/simulator/flat/run_time_prediction.h"

#include <algorithm>
#include <array>

namespace muster {
namespace {

constexpr Tick kMinute = 60;
constexpr Tick kHour = 3600;
constexpr std::array<Tick, 11> kCorrections = {kMinute,    5 * kMinute, 15 * kMinute, 30 * kMinute,
                                               kHour,      2 * kHour,   5 * kHour,    10 * kHour,
                                               20 * kHour, 50 * kHour,  100 * kHour};

}  // namespace

void LastTwoPrediction::Observe(std::int64_t user, Tick run_time) {
  Pair& pair = users_[user];
  pair.before = pair.last;
  pair.last = run_time;
}

Tick LastTwoPrediction::Predict(std::int64_t user, Tick requested) const {
  const auto found = users_.find(user);
  if (found == users_.end() || found->second.before == 0) {
    return requested;
  }
  const Tick mean = (found->second.last + found->second.before) / 2;
  return std::min(std::max<Tick>(mean, 1), requested);
}

Tick CorrectedPrediction(Tick prediction, std::uint32_t corrections, Tick limit) {
  const std::size_t step = std::min<std::size_t>(corrections, kCorrections.size() - 1);
  return std::min(prediction + kCorrections[step], limit);
}

}  // namespace muster
