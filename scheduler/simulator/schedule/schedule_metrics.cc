#include "scheduler/simulator/schedule/schedule_metrics.h"

#include <algorithm>
#include <cmath>

namespace muster::sim {
namespace {

constexpr std::int64_t kBound = 10;  // seconds

// The smallest value that at least 95 % of all do not exceed. REQUIRES: not empty.
template <class T>
T Percentile95(std::vector<T>& values) {
  const std::size_t rank = (values.size() * 95 + 99) / 100;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// The middle value, or the mean of the two in the middle. REQUIRES: not empty.
template <class T>
double Median(std::vector<T>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const auto upper = static_cast<double>(*middle);
  if (values.size() % 2 == 1) {
    return upper;
  }
  return (static_cast<double>(*std::max_element(values.begin(), middle)) + upper) / 2;
}

}  // namespace

double BoundedSlowdown(const ScheduleRow& row) {
  return std::max(1.0, static_cast<double>(row.turnaround_time()) /
                           static_cast<double>(std::max<std::int64_t>(kBound, row.execution_time)));
}

double GiniCoefficient(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  double weighted = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    weighted += static_cast<double>(i + 1) * values[i];
  }
  return sum <= 0 ? 0 : std::max(0.0, 2 * weighted / (count * sum) - (count + 1) / count);
}

double JainIndex(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return squares <= 0 ? 1 : sum * sum / (static_cast<double>(values.size()) * squares);
}

void ScheduleMetrics::Add(const ScheduleRow& row) {
  first_submission_ =
      waits_.empty() ? row.submission_time : std::min(first_submission_, row.submission_time);
  last_finish_ = waits_.empty() ? row.finish_time() : std::max(last_finish_, row.finish_time());
  const auto turnaround = static_cast<double>(row.turnaround_time());
  const auto run_time = static_cast<double>(row.execution_time);
  const double slowdown = BoundedSlowdown(row);
  const double stretch = turnaround / run_time;
  waits_.push_back(row.waiting_time());
  slowdowns_.push_back(slowdown);
  wait_sum_ += static_cast<double>(row.waiting_time());
  slowdown_sum_ += slowdown;
  slowdown_squares_ += slowdown * slowdown;
  turnaround_sum_ += turnaround;
  turnaround_squares_ += turnaround * turnaround;
  turnaround_max_ = std::max(turnaround_max_, row.turnaround_time());
  stretch_sum_ += stretch;
  stretch_max_ = std::max(stretch_max_, stretch);
  const double work = run_time * static_cast<double>(row.requested_resources);
  work_ += work;
  UserMetrics& user = users_[row.user];
  user.user = row.user;
  ++user.jobs;
  user.work += work;
  user.waiting_time += static_cast<double>(row.waiting_time());
  user.longest = std::max(user.longest, row.waiting_time());
  user.slowdown += slowdown;
}

std::vector<UserMetrics> ScheduleMetrics::Users() const {
  std::vector<UserMetrics> users;
  users.reserve(users_.size());
  for (const auto& [number, user] : users_) {
    users.push_back(user);
  }
  return users;
}

void ScheduleMetrics::AddFairness(std::vector<Metric>* metrics) const {
  std::vector<double> waits;
  std::vector<double> slowdowns;
  for (const auto& [number, user] : users_) {
    waits.push_back(user.mean_waiting_time());
    slowdowns.push_back(user.mean_slowdown());
  }
  metrics->push_back({"users", static_cast<double>(users_.size()), true, "",
                      "who have jobs; those of no known user count as one"});
  metrics->push_back({"gini_user_waiting_time", GiniCoefficient(waits), false, "",
                      "Gini coefficient of the users' mean waits, 0: all alike; Gini 1912"});
  metrics->push_back({"jain_user_bounded_slowdown", JainIndex(slowdowns), false, "",
                      "Jain's index of the users' mean bounded slowdowns, 1: all alike; Jain, "
                      "Chiu, Hawe, DEC-TR-301, 1984"});
}

std::vector<Metric> ScheduleMetrics::Compute(std::int64_t processors) {
  if (waits_.empty()) {
    return {};
  }
  const auto jobs = static_cast<double>(waits_.size());
  const auto makespan = static_cast<double>(last_finish_ - first_submission_);
  const auto longest = static_cast<double>(*std::max_element(waits_.begin(), waits_.end()));
  std::vector<Metric> metrics = {
      {"mean_waiting_time", wait_sum_ / jobs, false, "s", "mean of start - submission"},
      {"median_waiting_time", Median(waits_), false, "s",
       "the middle wait, or the mean of the two in the middle"},
      {"p95_waiting_time", static_cast<double>(Percentile95(waits_)), true, "s",
       "the smallest wait that at least 95 % of the jobs do not exceed"},
      {"max_waiting_time", longest, true, "s", "the longest wait"},
      {"mean_bounded_slowdown", slowdown_sum_ / jobs, false, "",
       "mean of max(1, (wait + run time) / max(10 s, run time)); Feitelson et al., JSSPP 1997"},
      {"median_bounded_slowdown", Median(slowdowns_), false, "", "its median"},
      {"p95_bounded_slowdown", Percentile95(slowdowns_), false, "", "its 95th percentile"},
      {"max_bounded_slowdown", *std::max_element(slowdowns_.begin(), slowdowns_.end()), false, "",
       "its maximum"},
      {"rms_bounded_slowdown", std::sqrt(slowdown_squares_ / jobs), false, "",
       "the root of its mean square"},
      {"mean_turnaround_time", turnaround_sum_ / jobs, false, "s",
       "mean of wait + run time (flow time)"},
      {"max_turnaround_time", static_cast<double>(turnaround_max_), true, "s",
       "the longest turnaround time"},
      {"rms_turnaround_time", std::sqrt(turnaround_squares_ / jobs), false, "s",
       "the root of the mean square of turnaround times"},
      {"mean_stretch", stretch_sum_ / jobs, false, "", "mean of turnaround time / run time"},
      {"max_stretch", stretch_max_, false, "", "the largest stretch"},
      {"utilisation", work_ / (static_cast<double>(processors) * makespan), false, "",
       "processor seconds used / (processors x makespan)"},
      {"makespan", makespan, true, "s", "from the first submission to the last end"},
  };
  AddFairness(&metrics);
  return metrics;
}

}  // namespace muster::sim
