#include "scheduler/simulator/schedule/schedule_comparison.h"

#include <algorithm>
#include <map>

#include "scheduler/simulator/random_sequence.h"
#include "scheduler/simulator/schedule/schedule_metrics.h"

namespace muster::sim {
namespace {

constexpr std::int64_t kDay = std::int64_t{24} * 3600;
constexpr std::int64_t kBlocksWanted = 10;
constexpr std::int64_t kBlocksMax = 20'000;
constexpr std::size_t kBlocksLeast = 5;  // with jobs in them, for an interval

// A job of both schedules.
struct Pair {
  std::int64_t submit = 0;
  std::int64_t user = -1;
  std::int64_t account = -1;
  double base_wait = 0;
  double variant_wait = 0;
  double slower = 0;  // by how much the bounded slowdown differs
};

// Sums over the jobs of one block.
struct BlockSum {
  std::size_t block = 0;
  double jobs = 0;
  double wait = 0;  // variant - base, s
  double slowdown = 0;
};

std::vector<Pair> Match(std::vector<JobOutcome>& base, std::vector<JobOutcome>& variant,
                        std::uint64_t* only_one) {
  const auto by_id = [](const JobOutcome& a, const JobOutcome& b) { return a.id < b.id; };
  std::sort(base.begin(), base.end(), by_id);
  std::sort(variant.begin(), variant.end(), by_id);
  std::vector<Pair> pairs;
  auto other = variant.begin();
  for (const JobOutcome& job : base) {
    other = std::lower_bound(other, variant.end(), job, by_id);
    if (other != variant.end() && other->id == job.id) {
      pairs.push_back({.submit = job.submit,
                       .user = job.user,
                       .account = job.account,
                       .base_wait = static_cast<double>(job.wait),
                       .variant_wait = static_cast<double>(other->wait),
                       .slower = other->slowdown - job.slowdown});
    }
  }
  *only_one = base.size() + variant.size() - 2 * pairs.size();
  return pairs;
}

std::int64_t BlockLength(std::int64_t wanted, std::int64_t span) {
  if (wanted > 0) {
    return std::max(wanted, span / kBlocksMax + 1);
  }
  for (const std::int64_t usual : {7 * kDay, kDay}) {
    if (span >= kBlocksWanted * usual) {
      return std::max(usual, span / kBlocksMax + 1);
    }
  }
  return span / (2 * kBlocksWanted) + 1;
}

// How often each block is drawn, resample by resample.
class Resamples {
 public:
  Resamples(std::size_t blocks, const BootstrapOptions& options)
      : blocks_(blocks), times_(blocks * options.resamples) {
    RandomSequence random(options.seed);
    for (std::uint32_t sample = 0; sample < options.resamples; ++sample) {
      for (std::size_t draw = 0; draw < blocks; ++draw) {
        ++times_[sample * blocks + random.Below(blocks)];
      }
    }
  }

  [[nodiscard]] std::size_t count() const { return blocks_ == 0 ? 0 : times_.size() / blocks_; }
  [[nodiscard]] double Times(std::size_t sample, std::size_t block) const {
    return times_[sample * blocks_ + block];
  }

 private:
  std::size_t blocks_;
  std::vector<std::uint16_t> times_;
};

Difference Interval(std::vector<double>& means, double mean, double confidence) {
  Difference difference{.mean = mean, .low = mean, .high = mean, .known = !means.empty()};
  if (means.empty()) {
    return difference;
  }
  std::sort(means.begin(), means.end());
  const double tail = (1 - confidence) / 2 * static_cast<double>(means.size() - 1);
  difference.low = means[static_cast<std::size_t>(tail)];
  difference.high = means[means.size() - 1 - static_cast<std::size_t>(tail)];
  return difference;
}

// Means and intervals from sums by block. A resample that has none of the jobs says nothing.
void Bootstrap(const std::vector<BlockSum>& sums, const Resamples& resamples, double confidence,
               OwnerDifference* owner) {
  std::vector<double> waits;
  std::vector<double> slowdowns;
  const std::size_t samples = sums.size() < kBlocksLeast ? 0 : resamples.count();
  for (std::size_t sample = 0; sample < samples; ++sample) {
    BlockSum all;
    for (const BlockSum& sum : sums) {
      const double times = resamples.Times(sample, sum.block);
      all.jobs += times * sum.jobs;
      all.wait += times * sum.wait;
      all.slowdown += times * sum.slowdown;
    }
    if (all.jobs > 0) {
      waits.push_back(all.wait / all.jobs);
      slowdowns.push_back(all.slowdown / all.jobs);
    }
  }
  BlockSum all;
  for (const BlockSum& sum : sums) {
    all.jobs += sum.jobs;
    all.wait += sum.wait;
    all.slowdown += sum.slowdown;
  }
  owner->wait = Interval(waits, all.wait / all.jobs, confidence);
  owner->slowdown = Interval(slowdowns, all.slowdown / all.jobs, confidence);
}

// The blocks of time that have jobs, and how they are drawn.
struct Blocks {
  std::int64_t first = 0;   // the first submission
  std::int64_t length = 0;  // s
  std::map<std::int64_t, std::size_t> places;
  double confidence = 0;
};

// Jobs of one owner, or of all, in order of submission.
OwnerDifference Compare(const std::vector<const Pair*>& pairs, const Blocks& blocks,
                        const Resamples& resamples) {
  OwnerDifference owner;
  std::vector<BlockSum> sums;
  for (const Pair* pair : pairs) {
    const std::size_t block = blocks.places.at((pair->submit - blocks.first) / blocks.length);
    if (sums.empty() || sums.back().block != block) {
      sums.push_back({.block = block});
    }
    BlockSum& sum = sums.back();
    sum.jobs += 1;
    sum.wait += pair->variant_wait - pair->base_wait;
    sum.slowdown += pair->slower;
    owner.base_wait += pair->base_wait;
    owner.variant_wait += pair->variant_wait;
  }
  owner.jobs = pairs.size();
  owner.base_wait /= static_cast<double>(pairs.size());
  owner.variant_wait /= static_cast<double>(pairs.size());
  Bootstrap(sums, resamples, blocks.confidence, &owner);
  return owner;
}

// Owner by owner, as `number_of` says whose a job is.
std::vector<OwnerDifference> CompareOwners(const std::vector<const Pair*>& pairs,
                                           std::int64_t Pair::*number_of, const Blocks& blocks,
                                           const Resamples& resamples) {
  std::map<std::int64_t, std::vector<const Pair*>> by_owner;
  for (const Pair* pair : pairs) {
    by_owner[pair->*number_of].push_back(pair);
  }
  std::vector<OwnerDifference> owners;
  for (const auto& [number, jobs] : by_owner) {
    owners.push_back(Compare(jobs, blocks, resamples));
    owners.back().owner = number;
  }
  return owners;
}

}  // namespace

JobOutcome OutcomeOf(const ScheduleRow& row) {
  return {.id = row.job_id,
          .submit = row.submission_time,
          .user = row.user,
          .account = row.group,
          .wait = row.waiting_time(),
          .slowdown = BoundedSlowdown(row)};
}

Comparison Compare(std::vector<JobOutcome> base, std::vector<JobOutcome> variant,
                   const BootstrapOptions& options) {
  Comparison comparison;
  std::vector<Pair> pairs = Match(base, variant, &comparison.only_one);
  comparison.jobs = pairs.size();
  if (pairs.empty()) {
    return comparison;
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.submit < b.submit; });
  Blocks blocks{.first = pairs.front().submit,
                .length = BlockLength(options.block, pairs.back().submit - pairs.front().submit),
                .places = {},
                .confidence = options.confidence};
  std::vector<const Pair*> everyone;
  for (const Pair& pair : pairs) {
    blocks.places.emplace((pair.submit - blocks.first) / blocks.length, blocks.places.size());
    everyone.push_back(&pair);
  }
  comparison.block = blocks.length;
  comparison.blocks = blocks.places.size();
  const Resamples resamples(blocks.places.size(), options);
  comparison.overall = Compare(everyone, blocks, resamples);
  comparison.accounts = CompareOwners(everyone, &Pair::account, blocks, resamples);
  comparison.users = CompareOwners(everyone, &Pair::user, blocks, resamples);
  return comparison;
}

}  // namespace muster::sim
