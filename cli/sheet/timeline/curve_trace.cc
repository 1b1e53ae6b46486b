#include "cli/sheet/timeline/curve_trace.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

using TraceEvents = nlohmann::json;

void AddCounter(const JobCurve& curve, const std::string& name, Time time, double value,
                TraceEvents& events) {
  if (std::isfinite(value)) {
    events.push_back({{"ph", "C"},
                      {"pid", curve.job.value()},
                      {"name", name},
                      {"ts", time.time_since_epoch().count() * 1000},  // microseconds
                      {"args", {{"value", value}}}});
  }
}

void AddPoints(const JobCurve& curve, TraceEvents& events) {
  for (const CurvePoint& point : curve.points) {
    AddCounter(curve, "CPUs busy", point.start, point.cpus, events);
    AddCounter(curve, "memory", point.start, static_cast<double>(point.memory.value()), events);
    AddCounter(curve, "GPUs busy", point.start, point.gpus, events);
    AddCounter(curve, "GPU memory", point.start, static_cast<double>(point.gpu_memory.value()),
               events);
    AddCounter(curve, "watts", point.start, point.watts, events);
  }
  for (const ReportedCurve& reported : curve.reported) {
    for (const ReportedPoint& point : reported.points) {
      AddCounter(curve, reported.name, point.start, point.last, events);
    }
  }
}

}  // namespace

std::string CurveTrace(const std::vector<JobCurve>& curves) {
  TraceEvents events = TraceEvents::array();
  for (const JobCurve& curve : curves) {
    events.push_back({{"ph", "M"},
                      {"pid", curve.job.value()},
                      {"name", "process_name"},
                      {"args", {{"name", absl::StrCat("job ", curve.label)}}}});
    AddPoints(curve, events);
  }
  return TraceEvents{{"traceEvents", std::move(events)}}.dump() + "\n";
}

}  // namespace muster::cli
