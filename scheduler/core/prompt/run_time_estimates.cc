#include "scheduler/core/prompt/run_time_estimates.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace muster::core {
namespace {

constexpr std::int64_t kPart = std::int64_t{1} << 20;
constexpr std::uint32_t kOfAlike = 2;  // runs that say enough
constexpr std::uint32_t kOfUser = 3;
constexpr std::uint32_t kQuantilePercent = 70;

// log2 in thousandths, straight between powers of two.
std::int64_t Log2Thousandths(std::int64_t value) {
  const auto positive = static_cast<std::uint64_t>(std::max<std::int64_t>(value, 1));
  const int whole = static_cast<int>(std::bit_width(positive)) - 1;
  const std::uint64_t rest = positive - (std::uint64_t{1} << whole);
  const std::uint64_t part =
      whole <= 40 ? (rest * 1000) >> whole : ((rest >> (whole - 40)) * 1000) >> 40;
  return std::int64_t{whole} * 1000 + static_cast<std::int64_t>(part);
}

std::int64_t PartOf(std::int64_t limit, std::int64_t part) {
  return limit / kPart * part + limit % kPart * part / kPart;
}

}  // namespace

std::uint64_t NameNumber(const std::string& name) {
  std::uint64_t number = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : name) {
    if (c >= '0' && c <= '9') {
      break;
    }
    number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return number | 1U;
}

std::size_t RunTimeEstimates::Hash::operator()(const Likeness& likeness) const {
  auto hash = static_cast<std::uint64_t>(likeness.user);
  const auto limit = static_cast<std::uint64_t>(likeness.limit);
  const auto size = static_cast<std::uint64_t>(likeness.size);
  for (const std::uint64_t value : {limit, size, likeness.name}) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29;
  }
  return hash;
}

std::int64_t RunTimeEstimates::Recent::Quantile() const {
  std::array<std::int64_t, kKept> sorted = values;
  const std::size_t known = std::min<std::size_t>(count, kKept);
  const auto at = std::min(known - 1, known * kQuantilePercent / 100);
  const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(sorted.begin(), nth, sorted.begin() + static_cast<std::ptrdiff_t>(known));
  return *nth;
}

RunTimeEstimate RunTimeEstimates::Estimate(const JobLikeness& job) const {
  RunTimeEstimate estimate{job.limit, job.limit, EstimateSource::kLimit};
  const auto user = users_.find(job.user);
  if (job.user < 0 || user == users_.end()) {
    return estimate;
  }
  const auto alike = alike_.find({job.user, job.limit, job.size, job.name});
  const auto same_name = alike_.find({job.user, job.limit, -1, job.name});
  const auto same_limit = alike_.find({job.user, job.limit, -1, 0});
  if (alike != alike_.end() && alike->second.count >= kOfAlike) {
    estimate.guess = alike->second.Quantile();
    estimate.source = EstimateSource::kAlike;
  } else if (job.name != 0 && same_name != alike_.end() && same_name->second.count >= kOfAlike) {
    estimate.guess = same_name->second.Quantile();
    estimate.source = EstimateSource::kSameName;
  } else if (same_limit != alike_.end() && same_limit->second.count >= kOfAlike) {
    estimate.guess = same_limit->second.Quantile();
    estimate.source = EstimateSource::kSameLimit;
  } else if (user->second.parts.count >= kOfUser) {
    estimate.guess = PartOf(job.limit, user->second.parts.Quantile());
    estimate.source = EstimateSource::kUser;
  }
  estimate.guess = std::clamp<std::int64_t>(estimate.guess, 1, job.limit);
  estimate.used = user->second.trust >= 0 ? estimate.guess : job.limit;
  return estimate;
}

void RunTimeEstimates::Observe(const JobLikeness& job, const RunTimeEstimate& estimate,
                               std::int64_t run_time) {
  if (job.user < 0 || job.limit < 1 || run_time < 1) {
    return;
  }
  const std::int64_t ran = std::min(run_time, job.limit);
  User& user = users_[job.user];
  if (estimate.source != EstimateSource::kLimit) {
    const std::int64_t gain = Loss(job.limit, ran) - Loss(estimate.guess, ran);
    user.trust =
        std::clamp(user.trust + std::clamp(gain, -kLossMax, kLossMax), -kTrustMax, kTrustMax);
  }
  const bool is_long = job.limit > std::int64_t{1} << 40;
  user.parts.Add(is_long ? ran / (job.limit / kPart) : ran * kPart / job.limit);
  alike_[{job.user, job.limit, job.size, job.name}].Add(ran);
  alike_[{job.user, job.limit, -1, 0}].Add(ran);
  if (job.name != 0) {
    alike_[{job.user, job.limit, -1, job.name}].Add(ran);
  }
}

std::int64_t RunTimeEstimates::Trust(std::int64_t user) const {
  const auto found = users_.find(user);
  return found == users_.end() ? 0 : found->second.trust;
}

std::int64_t RunTimeEstimates::Loss(std::int64_t estimate, std::int64_t run_time) {
  const std::int64_t off = Log2Thousandths(estimate) - Log2Thousandths(run_time);
  return off < 0 ? -off : off;
}

}  // namespace muster::core
