#include "scheduler/core/power/power_limits.h"

#include <algorithm>

namespace muster::core {

PowerLimits::PowerLimits(const std::vector<PowerClass>& classes)
    : any_(std::any_of(classes.begin(), classes.end(),
                       [](const PowerClass& kind) { return kind.most_on > 0; })) {
  if (any_) {
    classes_ = PowerClasses(classes);
  }
}

const PowerClass* PowerLimits::Of(const std::string& node) const {
  const PowerClass* const kind = any_ ? classes_.Of(node) : nullptr;
  return kind == nullptr || kind->most_on == 0 ? nullptr : kind;
}

}  // namespace muster::core
