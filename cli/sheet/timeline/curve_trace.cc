#include "cli/sheet/timeline/curve_trace.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
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

// What a point has or its nodes could not tell.
void AddTold(const JobCurve& curve, const CurvePoint& point, TraceEvents& events) {
  const std::pair<const char*, std::optional<double>> told[] = {
      {"watts", point.watts},
      {"bytes read a second", point.read},
      {"bytes written a second", point.written},
      {"nodes that wait for storage", point.io_blocked},
      {"SMs active", point.sm_active},
      {"tensor cores active", point.tensor_active},
      {"device memory bandwidth", point.dram_active},
      {"link bytes a second of a GPU", point.link},
      {"bytes sent a second", point.sent},
      {"bytes received a second", point.received},
      {"nodes whose network is busy", point.net_blocked}};
  for (const auto& [name, value] : told) {
    if (value.has_value()) {
      AddCounter(curve, name, point.start, *value, events);
    }
  }
}

void AddPoints(const JobCurve& curve, TraceEvents& events) {
  for (const CurvePoint& point : curve.points) {
    AddCounter(curve, "CPUs busy", point.start, point.cpus, events);
    AddCounter(curve, "memory", point.start, static_cast<double>(point.memory.value()), events);
    AddCounter(curve, "GPUs busy", point.start, point.gpus, events);
    AddCounter(curve, "GPU memory", point.start, static_cast<double>(point.gpu_memory.value()),
               events);
    AddTold(curve, point, events);
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
