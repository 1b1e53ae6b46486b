#include "scheduler/core/mig/mig_classes.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/base/text/host_list.h"

namespace muster::core {
namespace {

bool IsAllowed(const MigClass& kind, const std::string& profile) {
  return kind.layouts.empty() ||
         std::any_of(kind.layouts.begin(), kind.layouts.end(), [&](const MigLayout& layout) {
           return std::find(layout.profiles.begin(), layout.profiles.end(), profile) !=
                  layout.profiles.end();
         });
}

}  // namespace

MigClasses::MigClasses(const std::vector<MigClass>& classes) {
  for (const MigClass& kind : classes) {
    if (kind.nodes == "ALL") {
      all_ = all_ == nullptr ? &kind : all_;
      continue;
    }
    const absl::StatusOr<std::vector<std::string>> names = NodeNames(kind.nodes);
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      by_name_.emplace(name, &kind);
    }
  }
}

const MigClass* MigClasses::Of(const std::string& node) const {
  const auto found = by_name_.find(node);
  return found == by_name_.end() ? all_ : found->second;
}

void KeepAllowedMig(const MigClass* kind, Machine& machine) {
  if (kind == nullptr) {
    machine.mig.clear();
  }
  for (MigGpu& gpu : machine.mig) {
    for (MigProfile& profile : gpu.profiles) {
      if (!IsAllowed(*kind, profile.name)) {
        profile.placements.clear();  // it may lie nowhere
      }
    }
  }
  for (Gpu& gpu : machine.gpus) {
    gpu.by_name = std::any_of(machine.mig.begin(), machine.mig.end(),
                              [&gpu](const MigGpu& mig) { return mig.whole.uuid == gpu.parent; });
  }
}

}  // namespace muster::core
