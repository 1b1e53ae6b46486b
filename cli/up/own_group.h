#pragma once

// The control group that `muster up` makes for itself and its daemons when it was started where
// others live, as in a shell: no group may both have processes and pass controllers on.
//
// Made below the nearest group above the present one that offers the most controllers, so that no
// other process has to move. Thread promise: one owner. Invariants: (1) no other process than this
// one is moved, and it goes back when the group is left; (2) a group of one name is the same one at
// each start, so that jobs that ran on meanwhile are found; (3) nothing is moved out of a job.

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"

namespace muster::cli {

class OwnGroup {
 public:
  // Does nothing where there is nothing to gain: no cgroup v2, no other process in our group, or a
  // group that may have processes. An error says why there is none.
  static absl::StatusOr<OwnGroup> Enter(const std::string& state, const Environment& environment);

  OwnGroup() = default;
  OwnGroup(OwnGroup&& other) noexcept
      : group_(std::exchange(other.group_, "")), before_(std::move(other.before_)) {}
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;
  OwnGroup& operator=(OwnGroup&&) = delete;
  // Goes back, and removes the group unless jobs run on in it.
  ~OwnGroup();

 private:
  OwnGroup(std::string group, std::string before)
      : group_(std::move(group)), before_(std::move(before)) {}

  std::string group_;   // empty: none was made
  std::string before_;  // where this process was
};

}  // namespace muster::cli
