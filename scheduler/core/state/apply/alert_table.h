#pragma once

// The alerts that last: part of a cluster state.
//
// Thread promise: none; changed only by ClusterState's events. Invariant: one of a rule and
// subject.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/model/change/alert.h"

namespace muster::core {

class AlertTable {
 public:
  using Name = std::pair<std::string, std::string>;  // rule and subject

  void Load(std::vector<Alert> alerts);
  void Begin(const Alert& alert);
  void End(const Alert& alert);

  [[nodiscard]] const std::map<Name, Alert>& all() const { return all_; }

 private:
  std::map<Name, Alert> all_;
};

}  // namespace muster::core
