#include "agent/kernels/harness/timeline.h"

namespace muster::kernels {

void AddTimelineOption(CommandLine* line, std::string* path) {
  line->AddText("timeline", "write the phases as Trace Events for Perfetto; %r becomes the rank",
                path);
}

std::string TimelineProblem(const PhaseMarker& marker, const std::string& path) {
  return marker.failed() ? "--timeline: " + Printable(path) +
                               " cannot be written: name a file in a directory of yours"
                         : "";
}

}  // namespace muster::kernels
