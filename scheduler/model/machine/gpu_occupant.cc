#include "scheduler/model/machine/gpu_occupant.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"

namespace muster {

std::string OccupantText(const GpuOccupant& occupant) {
  return absl::StrCat("pid ", occupant.pid, " (", occupant.user, ", ", occupant.program,
                      occupant.memory.zero() ? "" : ", ",
                      occupant.memory.zero() ? "" : BytesText(occupant.memory.value()), ")");
}

std::string OccupiedText(const std::string& node, const GpuOccupants& occupants) {
  std::set<std::uint32_t> gpus;
  std::set<std::uint32_t> processes;
  for (const GpuOccupant& occupant : occupants) {
    gpus.insert(occupant.gpu);
    processes.insert(occupant.pid);
  }
  if (gpus.empty()) {
    return "";
  }
  return absl::StrCat(
      Counted(gpus.size(), "GPU"), " of node ", node, gpus.size() == 1 ? " is" : " are",
      " used by ", OccupantText(occupants.front()),
      processes.size() == 1 ? ""
                            : absl::StrCat(" and ", Counted(processes.size() - 1, "other process",
                                                            "other processes")),
      " outside Muster");
}

}  // namespace muster
