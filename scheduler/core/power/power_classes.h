#pragma once

// Which class of [power] a node is in, by its name: the lists expanded once.
//
// Thread promise: immutable once made. Invariants: the first class that names a node counts; a list
// that is none names nobody.

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "scheduler/model/settings/power_class.h"

namespace muster::core {

class PowerClasses {
 public:
  PowerClasses() = default;
  // REQUIRES: the classes outlive it, where they are.
  explicit PowerClasses(const std::vector<PowerClass>& classes);

  // Null: it is in none.
  [[nodiscard]] const PowerClass* Of(const std::string& node) const;
  // It stays on.
  [[nodiscard]] bool IsExcepted(const std::string& node) const;

 private:
  std::unordered_map<std::string, const PowerClass*> by_name_;
  std::unordered_set<std::string> excepted_;
  const PowerClass* all_ = nullptr;
};

}  // namespace muster::core
