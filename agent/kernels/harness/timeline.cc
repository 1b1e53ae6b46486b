#include "agent/kernels/harness/timeline.h"

namespace muster::kernels {

void AddTimelineOption(CommandLine* line, std::string* path) {
  line->AddText("timeline", "write the phases as Trace Events for Perfetto; %r becomes the rank",
                path);
}

std::vector<Operation> Marked(const std::vector<Operation>& operations, PhaseMarker* marker) {
  std::vector<Operation> marked = operations;
  for (Operation& each : marked) {
    each.run = [marker, name = each.name, run = each.run] {
      const PhaseMarker::Span phase = marker->Phase(name);
      return run();
    };
  }
  return marked;
}

std::string TimelineProblem(const PhaseMarker& marker, const std::string& path) {
  return marker.failed() ? "--timeline: " + Printable(path) +
                               " cannot be written: name a file in a directory of yours"
                         : "";
}

}  // namespace muster::kernels
