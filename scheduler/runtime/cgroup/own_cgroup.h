#pragma once

// The control group (v2) that this process is in, and what else is in it.
//
// Invariant: only EnterCgroup() moves a process, and it moves this one alone.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster {

// Below a group that is to pass controllers on: where our daemons are then.
inline constexpr std::string_view kAsideGroup = "/muster-daemons";

// Where the cgroup v2 tree is mounted, from the text of /proc/mounts; "" when it is not.
std::string CgroupMount(std::string_view mounts);

// The same of this machine; Unavailable where no cgroup v2 is mounted.
absl::StatusOr<std::string> MountedCgroups();

// Our group in the v2 tree ("/" for its root), from the text of /proc/self/cgroup; "" when none.
// Of the group into which our daemons step aside: the one that they left.
std::string OwnCgroup(std::string_view cgroups);

// The directory of our group; Unavailable where no cgroup v2 is mounted.
absl::StatusOr<std::string> OwnCgroupDirectory();

// Makes kAsideGroup below `group`, unless it is there; its directory.
absl::StatusOr<std::string> MakeAsideGroup(const std::string& group);

// The processes of a group, without those of the groups below it.
std::vector<std::string> CgroupProcesses(const std::string& group);

// The one group that may both have processes and pass controllers on: the tree's root.
bool IsCgroupRoot(const std::string& group);

// Moves this process.
absl::Status EnterCgroup(const std::string& group);

}  // namespace muster
