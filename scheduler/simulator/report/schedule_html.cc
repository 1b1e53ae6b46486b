#include "scheduler/simulator/report/schedule_html.h"

#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/report/page_text.h"
#include "scheduler/simulator/report/schedule_page.h"

namespace muster::sim {
namespace {

using nlohmann::json;

// Numbers of a trace as places in a list of names: only those that occur, in order of number.
class Legend {
 public:
  void See(std::int64_t number) { places_.emplace(number, 0); }

  json Names(const NameTable& table) {
    json names = json::array();
    for (auto& [number, place] : places_) {
      place = names.size();
      names.push_back(table.NameOf(number));
    }
    return names;
  }

  [[nodiscard]] std::size_t PlaceOf(std::int64_t number) const {
    const auto found = places_.find(number);
    MUSTER_CHECK(found != places_.end());
    return found->second;
  }

 private:
  std::map<std::int64_t, std::size_t> places_;
};

template <class Get>
json Column(const DrawnJobs& jobs, const Get& get) {
  json column = json::array();
  column.get_ref<json::array_t&>().reserve(jobs.jobs().size());
  for (const DrawnJobs::Job& job : jobs.jobs()) {
    column.push_back(get(job));
  }
  return column;
}

json MetricsOf(const ScheduleReport& report) {
  json metrics = json::array();
  for (const Metric& metric : report.metrics) {
    metrics.push_back({{"name", metric.name},
                       {"value", metric.value},
                       {"unit", metric.unit},
                       {"definition", metric.definition}});
  }
  return metrics;
}

json RoomsOf(const ScheduleReport& report) {
  json rooms = json::array();
  for (const auto& [what, room] : report.rooms) {
    if (room->largest_node() == 0 || room->series().empty()) {
      continue;
    }
    json largest = json::array();
    json fragmentation = json::array();
    for (const RoomBucket& bucket : room->series()) {
      largest.push_back(bucket.time_s > 0 ? bucket.largest / bucket.time_s : 0);
      fragmentation.push_back(bucket.free_s > 0 ? bucket.fragmentation / bucket.free_s : 0);
    }
    rooms.push_back({{"what", what},
                     {"node", room->largest_node()},
                     {"begin", room->beginning()},
                     {"step", room->bucket_s()},
                     {"largest", largest},
                     {"fragmentation", fragmentation}});
  }
  return rooms;
}

json ReasonsOf(const DrawnJobs& jobs) {
  json reasons = json::array();
  for (std::size_t i = 0; i < jobs.reasons().size(); ++i) {
    reasons.push_back(jobs.reasons().NameOf(static_cast<std::int64_t>(i)));
  }
  return reasons;
}

}  // namespace

std::string ScheduleHtml(const ScheduleReport& report, const DrawnJobs& jobs,
                         const TraceNames& names) {
  Legend users;
  Legend partitions;
  for (const DrawnJobs::Job& job : jobs.jobs()) {
    users.See(job.user);
    partitions.See(job.partition);
  }
  using Job = DrawnJobs::Job;
  json data = {{"title", report.title},
               {"subtitle", report.subtitle},
               {"partial", report.partial},
               {"processors", report.processors},
               {"epoch", report.unix_start.value_or(0)},
               {"metrics", MetricsOf(report)},
               {"reasons", ReasonsOf(jobs)},
               {"rooms", RoomsOf(report)},
               {"users", users.Names(names.users)},
               {"partitions", partitions.Names(names.partitions)}};
  data["job"] = Column(jobs, [](const Job& job) { return job.id; });
  data["submit"] = Column(jobs, [](const Job& job) { return job.submit; });
  data["wait"] = Column(jobs, [](const Job& job) { return job.wait; });
  data["run"] = Column(jobs, [](const Job& job) { return job.run_time; });
  data["procs"] = Column(jobs, [](const Job& job) { return job.processors; });
  data["user"] = Column(jobs, [&users](const Job& job) { return users.PlaceOf(job.user); });
  data["partition"] =
      Column(jobs, [&partitions](const Job& job) { return partitions.PlaceOf(job.partition); });
  data["reason"] = Column(jobs, [](const Job& job) { return job.reason; });
  data["since"] = Column(jobs, [](const Job& job) { return job.since; });
  data["earlier"] = Column(jobs, [](const Job& job) { return job.earlier ? 1 : 0; });
  data["ranges"] = Column(jobs, [](const Job& job) { return job.ranges; });
  if (jobs.left_out() != 0) {
    data["partial"] = absl::StrCat(report.partial, report.partial.empty() ? "" : ". ", "The first ",
                                   jobs.jobs().size(), " jobs to end are drawn; ", jobs.left_out(),
                                   " more are in the metrics only");
  }
  return PageWith(SchedulePage(), data);
}

}  // namespace muster::sim
