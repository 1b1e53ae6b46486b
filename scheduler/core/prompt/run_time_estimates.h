#pragma once

// How long a job will run, guessed from what jobs like it did: for orders, never for promises.
//
// The guess is a quantile of the last run times of the same user's jobs of that name, limit and
// size, else of that name and limit, else of that limit, else of the user's run time as a part of
// the limit; else it is the limit. Quantiles and not means: Nissimov and Feitelson, JSSPP 2007, and
// Tsafrir et al., TPDS 18(6), 2007, show what few outliers do to means. A user's guesses are judged
// as his jobs end, by how many times off they were, beside his limits: while they have been worse,
// his limits are used instead. So in any stretch in which guesses are used they cost at most
// kTrustMax + kLossMax more (in doublings, summed over jobs) than limits would have. Integers only.
// Thread promise: a value; one thread at a time. Invariants: (1) 1 <= estimate <= limit; (2) equal
// calls give equal estimates.

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "scheduler/model/job/job_estimate.h"

namespace muster::core {

// What a job is like, as known at its submission.
struct JobLikeness {
  std::int64_t user = -1;  // below 0: nobody is known
  std::int64_t limit = 0;  // > 0
  std::int64_t size = 0;
  std::uint64_t name = 0;  // a number for its name; 0: names are not known
};

// A number for a job's name: what stands before its first digit, for users number their runs.
std::uint64_t NameNumber(const std::string& name);

struct RunTimeEstimate {
  std::int64_t guess = 0;  // what history says, whether it is used or not
  std::int64_t used = 0;
  EstimateSource source = EstimateSource::kLimit;  // of `guess`
};

class RunTimeEstimates {
 public:
  // Losses are in thousandths of doublings.
  static constexpr std::int64_t kLossMax = 4'000;   // of one job, more than the limit's
  static constexpr std::int64_t kTrustMax = 8'000;  // credit that guesses can have

  [[nodiscard]] RunTimeEstimate Estimate(const JobLikeness& job) const;
  // The job that got this estimate ran for so long. Run times below 1 are no news.
  void Observe(const JobLikeness& job, const RunTimeEstimate& estimate, std::int64_t run_time);

  // By how much the user's guesses were better than his limits lately (below 0: worse), at most
  // kTrustMax either way.
  [[nodiscard]] std::int64_t Trust(std::int64_t user) const;

  // How far off, in thousandths of doublings: 1000 for twice or half.
  static std::int64_t Loss(std::int64_t estimate, std::int64_t run_time);

 private:
  static constexpr std::size_t kKept = 12;
  struct Recent {
    std::array<std::int64_t, kKept> values = {};
    std::uint32_t count = 0;  // of all that were added
    void Add(std::int64_t value) { values[count++ % kKept] = value; }
    [[nodiscard]] std::int64_t Quantile() const;
  };
  struct User {
    Recent parts;  // run time of limit, in 2^-20
    std::int64_t trust = 0;
  };
  struct Likeness {
    std::int64_t user = -1;
    std::int64_t limit = 0;
    std::int64_t size = -1;  // -1: any
    std::uint64_t name = 0;  // 0: any
    friend bool operator==(const Likeness&, const Likeness&) = default;
  };
  struct Hash {
    std::size_t operator()(const Likeness& likeness) const;
  };

  // Looked up, never iterated.
  std::unordered_map<std::int64_t, User> users_;
  std::unordered_map<Likeness, Recent, Hash> alike_;
};

}  // namespace muster::core
