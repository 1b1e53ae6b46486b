#include "scheduler/model/machine/mig.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/text/words.h"

namespace muster {

std::string InstancesText(const std::vector<MigInstance>& instances) {
  if (instances.empty()) {
    return "one whole GPU";
  }
  std::vector<std::pair<std::string, int>> counts;
  for (const MigInstance& instance : instances) {
    const auto known = std::find_if(counts.begin(), counts.end(), [&instance](const auto& count) {
      return count.first == instance.profile;
    });
    if (known == counts.end()) {
      counts.emplace_back(instance.profile, 1);
    } else {
      ++known->second;
    }
  }
  return absl::StrJoin(counts, " and ", [](std::string* out, const auto& count) {
    absl::StrAppend(out, count.second, " x ", count.first);
  });
}

std::string LayoutText(const std::string& node, const GpuLayout& layout) {
  const std::string gpu = absl::StrCat("GPU ", layout.os_index, " of node ", node);
  const std::string what = layout.instances.empty()
                               ? std::string("made whole")
                               : absl::StrCat("divided into ", InstancesText(layout.instances));
  const std::string whom = absl::StrCat(" for job ", ToString(layout.job));
  switch (layout.phase) {
    case LayoutPhase::kWanted:
      return absl::StrCat(gpu, " is to be ", what, whom, " once the jobs there have ended");
    case LayoutPhase::kOrdered:
      return absl::StrCat(gpu, " is being ", what, whom);
    case LayoutPhase::kMade:
      return absl::StrCat(gpu, " was ", what, whom);
    case LayoutPhase::kFailed:
      return absl::StrCat(gpu, " could not be ", what, whom, ": ", layout.text);
  }
  return "";
}

std::string LayoutsText(const std::string& node, const std::vector<GpuLayout>& layouts) {
  std::string all;
  for (const GpuLayout& layout : layouts) {
    if (layout.phase != LayoutPhase::kMade) {
      absl::StrAppend(&all, all.empty() ? "" : "; ", LayoutText(node, layout));
    }
  }
  return all;
}

}  // namespace muster
