#pragma once

// Which nodes belong to a class of [power] that has a maximum of nodes that are on at once.
//
// Thread promise: immutable once made. Invariant: a class without a maximum is not in it.

#include <string>
#include <vector>

#include "scheduler/core/power/power_classes.h"
#include "scheduler/model/settings/power_class.h"

namespace muster::core {

class PowerLimits {
 public:
  // Reads host lists where some class has a maximum, else nothing. REQUIRES: the classes outlive
  // it, where they are.
  explicit PowerLimits(const std::vector<PowerClass>& classes);

  [[nodiscard]] bool any() const { return any_; }
  // The class of the node; null: it is in none that has a maximum.
  [[nodiscard]] const PowerClass* Of(const std::string& node) const;

 private:
  bool any_ = false;
  PowerClasses classes_;
};

}  // namespace muster::core
