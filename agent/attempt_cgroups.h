#pragma once

// Where attempts' control groups go: a directory of ours in the cgroup v2 tree, if one can be made.
//
// Looked for below the agent's own group, so that an ordinary user's delegated subtree serves as
// well as root's. What it buys at the least is cgroup.kill: no process of an attempt escapes its
// end. The supervisor makes the attempt's own directory, the agent removes it. Thread promise: the
// owner thread's.

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster {

class AttemptCgroups {
 public:
  // None: every path is empty.
  AttemptCgroups() = default;

  // Makes <mount><own group>/muster-<name>. An error says why there can be none.
  static absl::StatusOr<AttemptCgroups> Make(const std::string& name);

  // The directory for an attempt of that name; "" where there are none.
  std::string PathFor(const std::string& attempt) const;

  // Removes the agent's directory when nothing is in it any more.
  void RemoveIfEmpty() const;

 private:
  explicit AttemptCgroups(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Where the cgroup v2 tree is mounted, from the text of /proc/mounts; "" when it is not.
std::string CgroupMount(std::string_view mounts);

// Our group in the v2 tree ("/" for its root), from the text of /proc/self/cgroup; "" when none.
std::string OwnCgroup(std::string_view cgroups);

}  // namespace muster
