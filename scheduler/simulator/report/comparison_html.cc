#include "scheduler/simulator/report/comparison_html.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "scheduler/simulator/report/page_text.h"
#include "scheduler/simulator/report/schedule_page.h"

namespace muster::sim {
namespace {

using nlohmann::json;

constexpr std::size_t kSlicesMost = 1000;

json IntervalOf(const Difference& difference) {
  return {{"mean", difference.mean},
          {"low", difference.low},
          {"high", difference.high},
          {"known", difference.known}};
}

json OwnerOf(const OwnerDifference& owner, const std::string& name) {
  return {{"name", name},
          {"jobs", owner.jobs},
          {"was", owner.base_wait},
          {"is", owner.variant_wait},
          {"wait", IntervalOf(owner.wait)},
          {"slowdown", IntervalOf(owner.slowdown)}};
}

json OwnersOf(const std::vector<OwnerDifference>& owners, const NameTable& names) {
  json list = json::array();
  for (const OwnerDifference& owner : owners) {
    list.push_back(OwnerOf(owner, names.NameOf(owner.owner)));
  }
  return list;
}

// From the first submission to the last end of all schedules.
TimeSlices CommonSlices(const ComparisonReport& report) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const ComparedSchedule& schedule : report.schedules) {
    if (!schedule.profile.empty()) {
      first = std::min(first, schedule.profile.first());
      last = std::max(last, schedule.profile.last());
    }
  }
  if (first > last) {
    return {};
  }
  return SliceTime(first, last, kSlicesMost);
}

json ScheduleOf(const ComparedSchedule& schedule, const TimeSlices& slices,
                const TraceNames& names) {
  json values = json::array();
  for (const Metric& metric : schedule.metrics) {
    values.push_back(metric.value);
  }
  json data = {{"name", schedule.name},
               {"processors", schedule.processors},
               {"values", values},
               {"inUse", schedule.profile.ProcessorsInUse(slices)},
               {"waiting", schedule.profile.JobsWaiting(slices)},
               {"waits", schedule.profile.WaitCounts()}};
  const Comparison& comparison = schedule.comparison;
  if (comparison.jobs > 0) {
    data["onlyOne"] = comparison.only_one;
    data["overall"] = OwnerOf(comparison.overall, "all jobs");
    data["accounts"] = OwnersOf(comparison.accounts, names.groups);
    data["users"] = OwnersOf(comparison.users, names.users);
  }
  return data;
}

}  // namespace

std::string ComparisonHtml(const ComparisonReport& report, const TraceNames& names) {
  const TimeSlices slices = CommonSlices(report);
  json metrics = json::array();
  for (const Metric& metric : report.schedules.front().metrics) {
    metrics.push_back(
        {{"name", metric.name}, {"unit", metric.unit}, {"definition", metric.definition}});
  }
  json schedules = json::array();
  for (const ComparedSchedule& schedule : report.schedules) {
    schedules.push_back(ScheduleOf(schedule, slices, names));
  }
  return PageWith(ComparisonPage(), {{"title", report.title},
                                     {"subtitle", report.subtitle},
                                     {"partial", report.partial},
                                     {"epoch", report.unix_start.value_or(0)},
                                     {"confidence", report.confidence},
                                     {"from", slices.from},
                                     {"slice", slices.length},
                                     {"bounds", kWaitBounds},
                                     {"metrics", metrics},
                                     {"schedules", schedules}});
}

}  // namespace muster::sim
