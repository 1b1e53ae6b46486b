#pragma once

// Which class of [mig] a node is in, by its name: the lists expanded once.
//
// Thread promise: immutable once made. Invariants: the first class that names a node counts; a list
// that is none names nobody.

#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/model/machine/machine.h"
#include "scheduler/model/settings/mig_class.h"

namespace muster::core {

class MigClasses {
 public:
  // REQUIRES: the classes outlive it, where they are.
  explicit MigClasses(const std::vector<MigClass>& classes);

  // Null: it is in none.
  [[nodiscard]] const MigClass* Of(const std::string& node) const;

 private:
  std::unordered_map<std::string, const MigClass*> by_name_;
  const MigClass* all_ = nullptr;
};

// Leaves of what MIG could make of the machine's GPUs what the class allows, and of null nothing:
// whoever has the machine then knows what Muster may do. Instances that Muster made, or may undo,
// are for jobs that name their profile.
void KeepAllowedMig(const MigClass* kind, Machine& machine);

}  // namespace muster::core
