#include "scheduler/simulator/schedule/schedule_profile.h"

#include <algorithm>

namespace muster::sim {
namespace {

// Adds up what holds for a while: for each slice the area that covers it in part, and where it
// begins and ends to cover whole ones.
class Areas {
 public:
  explicit Areas(const TimeSlices& slices)
      : slices_(slices), part_(slices.count + 1), step_(slices.count + 2) {}

  void Add(std::int64_t from, std::int64_t to, double height) {
    const std::size_t first = SliceOf(from);
    const std::size_t last = SliceOf(to);
    if (first == last) {
      part_[first] += height * static_cast<double>(to - from);
      return;
    }
    part_[first] += height * static_cast<double>(BeginOf(first + 1) - from);
    part_[last] += height * static_cast<double>(to - BeginOf(last));
    step_[first + 1] += height;
    step_[last] -= height;
  }

  [[nodiscard]] std::vector<double> Means() const {
    std::vector<double> means;
    means.reserve(slices_.count);
    double whole = 0;
    for (std::size_t i = 0; i < slices_.count; ++i) {
      whole += step_[i];
      means.push_back(whole + part_[i] / static_cast<double>(slices_.length));
    }
    return means;
  }

 private:
  [[nodiscard]] std::size_t SliceOf(std::int64_t time) const {
    return static_cast<std::size_t>((time - slices_.from) / slices_.length);
  }
  [[nodiscard]] std::int64_t BeginOf(std::size_t slice) const {
    return slices_.from + static_cast<std::int64_t>(slice) * slices_.length;
  }

  TimeSlices slices_;
  std::vector<double> part_;
  std::vector<double> step_;
};

}  // namespace

TimeSlices SliceTime(std::int64_t from, std::int64_t to, std::size_t most) {
  const auto slices = static_cast<std::int64_t>(most);
  const std::int64_t length = std::max<std::int64_t>((to - from + slices - 1) / slices, 1);
  return {.from = from,
          .length = length,
          .count = static_cast<std::size_t>((to - from + length - 1) / length)};
}

void ScheduleProfile::Add(const ScheduleRow& row) {
  jobs_.push_back({.submit = row.submission_time,
                   .start = row.starting_time,
                   .end = row.finish_time(),
                   .processors = row.requested_resources});
}

std::int64_t ScheduleProfile::first() const {
  return std::min_element(jobs_.begin(), jobs_.end(),
                          [](const Job& a, const Job& b) { return a.submit < b.submit; })
      ->submit;
}

std::int64_t ScheduleProfile::last() const {
  return std::max_element(jobs_.begin(), jobs_.end(),
                          [](const Job& a, const Job& b) { return a.end < b.end; })
      ->end;
}

std::vector<double> ScheduleProfile::ProcessorsInUse(const TimeSlices& slices) const {
  Areas areas(slices);
  for (const Job& job : jobs_) {
    areas.Add(job.start, job.end, static_cast<double>(job.processors));
  }
  return areas.Means();
}

std::vector<double> ScheduleProfile::JobsWaiting(const TimeSlices& slices) const {
  Areas areas(slices);
  for (const Job& job : jobs_) {
    areas.Add(job.submit, job.start, 1);
  }
  return areas.Means();
}

std::vector<std::uint64_t> ScheduleProfile::WaitCounts() const {
  std::vector<std::uint64_t> counts(kWaitBounds.size() + 1);
  for (const Job& job : jobs_) {
    const auto bound =
        std::lower_bound(kWaitBounds.begin(), kWaitBounds.end(), job.start - job.submit);
    ++counts[static_cast<std::size_t>(bound - kWaitBounds.begin())];
  }
  return counts;
}

}  // namespace muster::sim
