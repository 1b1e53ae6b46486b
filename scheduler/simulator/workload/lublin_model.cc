#include "scheduler/simulator/workload/lublin_model.h"

#include <algorithm>
#include <cmath>

#include "scheduler/base/status.h"

namespace muster::sim {
namespace {

constexpr double kHalfHour = 1800;
constexpr double kSerial = 0.244;
constexpr double kPowerOfTwo = 0.576;
constexpr double kSmallest = 0.8;  // log2 of the size
constexpr double kFirstStage = 0.86;
constexpr double kMiddleBelowLargest = 2.5;
constexpr double kLogRunTimeMax = 12;
constexpr double kLogGapMax = 13;
constexpr double kGapShape = 10.2303 * 1.0225;
constexpr double kGapScale = 0.4871;
constexpr double kCycleShape = 8.1737;
constexpr double kCycleScale = 3.9631;
constexpr std::size_t kCycleStart = 11;

// The regularised lower incomplete gamma function P(shape, x / scale), by its series: Abramowitz
// and Stegun, "Handbook of mathematical functions", 1964, 6.5.29. Converges for all x; x here is at
// most 60 / 3.9631.
double GammaCdf(double x, double shape, double scale) {
  const double z = x / scale;
  double term = 1 / shape;
  double sum = term;
  for (int k = 1; term > sum * 1e-15; ++k) {
    term *= z / (shape + k);
    sum += term;
  }
  int sign = 0;  // std::lgamma has one for all threads
  return sum * std::exp(-z + shape * std::log(z) - lgamma_r(shape, &sign));
}

}  // namespace

LublinModel::LublinModel(const LublinOptions& options) : options_(options), random_(options.seed) {
  MUSTER_CHECK(options.processors >= 2);
  double sum = 0;
  for (std::size_t i = kCycleStart; i < kHalfHours + kCycleStart; ++i) {
    const auto at = static_cast<double>(i);
    double& weight = weights_[(i - 1) % kHalfHours];
    weight =
        GammaCdf(at + 0.5, kCycleShape, kCycleScale) - GammaCdf(at - 0.5, kCycleShape, kCycleScale);
    sum += weight;
  }
  for (double& weight : weights_) {
    weight *= static_cast<double>(kHalfHours) / sum;
  }
}

std::int64_t LublinModel::DrawSize() {
  const double kind = random_.Uniform();
  if (kind <= kSerial) {
    return 1;
  }
  const double largest = std::log2(static_cast<double>(options_.processors));
  const double smallest = std::min(kSmallest, largest);
  const double middle = std::max(largest - kMiddleBelowLargest, smallest);
  const bool is_first = random_.Uniform() <= kFirstStage;
  const double low = is_first ? smallest : middle;
  const double high = is_first ? middle : largest;
  double log_size = low + (high - low) * random_.Uniform();
  if (kind <= kSerial + kPowerOfTwo) {
    log_size = std::floor(log_size + 0.5);
  }
  const auto size = static_cast<std::int64_t>(std::lround(std::exp2(log_size)));
  return std::clamp<std::int64_t>(size, 1, options_.processors);
}

std::int64_t LublinModel::DrawRunTime(std::int64_t size) {
  const double p = std::clamp(0.78 - 0.0054 * static_cast<double>(size), 0.0, 1.0);
  for (;;) {
    const double log_time =
        random_.Uniform() <= p ? random_.Gamma(4.2, 0.94) : random_.Gamma(312, 0.03);
    if (log_time <= kLogRunTimeMax) {
      return std::max<std::int64_t>(static_cast<std::int64_t>(std::exp(log_time)), 1);
    }
  }
}

// A gap is worth a number of mean half hours; each half hour of the day takes what it weighs.
double LublinModel::DrawArrival() {
  double log_gap = 0;
  do {
    log_gap = random_.Gamma(kGapShape, kGapScale);
  } while (log_gap > kLogGapMax);
  double points = options_.gap_factor * std::exp(log_gap) / kHalfHour;
  for (;;) {
    const double begun = std::floor(now_ / kHalfHour);
    const double left = (begun + 1) * kHalfHour - now_;
    const auto bucket = static_cast<std::size_t>(static_cast<std::int64_t>(begun)) % kHalfHours;
    const double worth = weights_[bucket] * left / kHalfHour;
    if (points <= worth) {
      now_ += points / weights_[bucket] * kHalfHour;
      return now_;
    }
    points -= worth;
    now_ = (begun + 1) * kHalfHour;
  }
}

TraceRecord LublinModel::Next() {
  TraceRecord record;
  const auto submit = static_cast<std::int64_t>(DrawArrival());
  if (!options_.mix.empty()) {
    record = options_.mix[random_.Below(options_.mix.size())];
    record.job_id = ++jobs_;
    record.submit = submit;
    record.wait = -1;
    return record;
  }
  record.job_id = ++jobs_;
  record.submit = submit;
  record.requested = DrawSize();
  record.allocated = record.requested;
  record.run_time = DrawRunTime(record.requested);
  record.status = 1;
  return record;
}

absl::StatusOr<std::vector<TraceRecord>> SampleRecords(TraceReader* reader, std::size_t most,
                                                       std::int64_t processors,
                                                       std::uint64_t seed) {
  RandomSequence random(seed);
  std::vector<TraceRecord> sample;
  TraceRecord record;
  for (std::uint64_t seen = 0;;) {
    ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) {
      return sample;
    }
    const std::int64_t size = record.requested > 0 ? record.requested : record.allocated;
    if (record.run_time <= 0 || size <= 0 || size > processors) {
      continue;
    }
    record.requested = size;
    if (sample.size() < most) {
      sample.push_back(record);
    } else if (const std::uint64_t place = random.Below(seen + 1); place < most) {
      sample[place] = record;
    }
    ++seen;
  }
}

double GapFactorForLoad(const LublinOptions& options, std::uint64_t jobs, double load) {
  constexpr int kRounds = 4;
  LublinOptions tried = options;
  tried.gap_factor = 1;
  for (int round = 0; round < kRounds; ++round) {
    LublinModel model(tried);
    double work = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
    for (std::uint64_t i = 0; i < jobs; ++i) {
      const TraceRecord record = model.Next();
      work += static_cast<double>(record.run_time) * static_cast<double>(record.requested);
      first = i == 0 ? record.submit : first;
      last = record.submit;
    }
    const double span = std::max<double>(static_cast<double>(last - first), 1);
    tried.gap_factor *= work / (static_cast<double>(options.processors) * span) / load;
  }
  return tried.gap_factor;
}

}  // namespace muster::sim
