#pragma once

// What a schedule was like, in the field's numbers, each with its definition.
//
// Exact: medians and percentiles come from all values (16 bytes a job), not from a sketch. Thread
// promise: a value; one thread at a time. Invariants: the same rows in the same order give the same
// bits on every machine (+, *, /, square root of doubles; no contraction).

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scheduler/simulator/schedule/schedule_row.h"

namespace muster::sim {

struct Metric {
  const char* name = "";
  double value = 0;
  bool whole = false;  // always a whole number
  const char* unit = "";
  const char* definition = "";
};

// One user's share of a schedule. Jobs of no known user are those of the user -1.
struct UserMetrics {
  std::int64_t user = -1;
  std::uint64_t jobs = 0;
  double work = 0;           // processor seconds
  double waiting_time = 0;   // s, of all jobs together
  std::int64_t longest = 0;  // s, the longest wait
  double slowdown = 0;       // bounded, of all jobs together
  [[nodiscard]] double mean_waiting_time() const {
    return waiting_time / static_cast<double>(jobs);
  }
  [[nodiscard]] double mean_slowdown() const { return slowdown / static_cast<double>(jobs); }
};

// max(1, turnaround / max(10 s, run time)); Feitelson et al., "Theory and practice in parallel job
// scheduling", JSSPP 1997, section 3.
double BoundedSlowdown(const ScheduleRow& row);

// How unequal values >= 0 are: sum over pairs of |x_i - x_j| / (2 n^2 mean), from 0 (all alike) to
// 1 - 1/n (one has all); 0 for no values or zeros only. Gini, "Variabilità e mutabilità", 1912.
// Reorders `values`.
double GiniCoefficient(std::vector<double>& values);

// (sum x)^2 / (n sum x^2), from 1/n to 1 (all alike); 1 for no values. Jain, Chiu, Hawe, "A
// quantitative measure of fairness", DEC-TR-301, 1984.
double JainIndex(const std::vector<double>& values);

class ScheduleMetrics {
 public:
  void Add(const ScheduleRow& row);
  [[nodiscard]] std::uint64_t jobs() const { return waits_.size(); }

  // Empty without jobs. Reorders what is kept, nothing else.
  std::vector<Metric> Compute(std::int64_t processors);
  // In order of number.
  [[nodiscard]] std::vector<UserMetrics> Users() const;

 private:
  void AddFairness(std::vector<Metric>* metrics) const;

  std::vector<std::int64_t> waits_;
  std::map<std::int64_t, UserMetrics> users_;
  std::vector<double> slowdowns_;  // bounded
  double wait_sum_ = 0;
  double slowdown_sum_ = 0;
  double slowdown_squares_ = 0;
  double turnaround_sum_ = 0;
  double turnaround_squares_ = 0;
  std::int64_t turnaround_max_ = 0;
  double stretch_sum_ = 0;
  double stretch_max_ = 0;
  double work_ = 0;  // processor seconds
  std::int64_t first_submission_ = 0;
  std::int64_t last_finish_ = 0;
};

}  // namespace muster::sim
