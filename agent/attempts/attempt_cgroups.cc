#include "agent/attempts/attempt_cgroups.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/cgroup/own_cgroup.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

// A daemon that is started meanwhile is found at the next look.
constexpr int kAsideLooks = 3;

// The program that a process runs; empty when that cannot be read.
std::filesystem::path ProgramOf(const std::string& pid) {
  std::error_code error;
  return std::filesystem::read_symlink(absl::StrCat("/proc/", pid, "/exe"), error);
}

// Whether it is one of Muster's: installed, they share their directory with everybody's programs.
bool IsOurs(const std::string& pid) {
  const std::filesystem::path ours = ProgramOf("self");
  const std::filesystem::path program = ProgramOf(pid);
  return !ours.empty() &&
         (program == ours || (program.parent_path() == ours.parent_path() &&
                              absl::StartsWith(program.filename().string(), "muster")));
}

// Moves the processes of `group` into one below it, if they are Muster's own and nobody else's.
absl::Status StepAside(const std::string& group) {
  const std::vector<std::string> pids = CgroupProcesses(group);
  for (const std::string& pid : pids) {
    if (!IsOurs(pid)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the control group ", group, " has processes that are not Muster's (pid ",
                       pid, "): start the agent in a group of its own"));
    }
  }
  ASSIGN_OR_RETURN(const std::string aside, MakeAsideGroup(group));
  for (const std::string& pid : pids) {
    absl::Status moved = WriteCgroupFile(aside, "cgroup.procs", pid);
    if (!moved.ok() && ReadFile(absl::StrCat("/proc/", pid, "/stat")).ok()) {
      return moved;  // it lives, and stays
    }
  }
  return absl::OkStatus();
}

// Has `group` pass on what it can. Nobody may be in it then, but in the tree's root: what the
// kernel would still enable makes the group a threaded one, below which no process can live in a
// group of its own.
absl::Status PassOn(const std::string& group) {
  for (int i = 0; !IsCgroupRoot(group) && !PassesAllOn(group); ++i) {
    if (CgroupProcesses(group).empty()) {
      break;
    }
    if (i == kAsideLooks) {
      return absl::UnavailableError(absl::StrCat("processes keep coming to the group ", group));
    }
    RETURN_IF_ERROR(StepAside(group));
  }
  return EnableControllers(group);
}

// Whether attempts can live below `group`, and be killed there.
absl::Status CheckUsable(const std::string& group) {
  if (access((group + "/cgroup.kill").c_str(), W_OK) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(group, "/cgroup.kill: cannot write"));
  }
  const std::string type = ReadCgroupFile(group, "cgroup.type");
  if (type != "domain") {
    return absl::FailedPreconditionError(
        absl::StrCat("the control group ", group, " is of type \"", type,
                     "\", in which no process can live: give jobs another --cgroup-root"));
  }
  return absl::OkStatus();
}

// The group that somebody named: a directory, or a group's path below the mount.
absl::StatusOr<std::string> NamedGroup(const std::string& root) {
  if (absl::StartsWith(root, "/")) {
    return root;
  }
  ASSIGN_OR_RETURN(const std::string mount, MountedCgroups());
  std::string group = absl::StrCat(mount, "/", root);
  RETURN_IF_ERROR(CheckCgroupRoot(group));
  return group;
}

}  // namespace

absl::Status CheckCgroupRoot(const std::string& root) {
  if (access((root + "/cgroup.subtree_control").c_str(), F_OK) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        root, " is not a group of a cgroup v2 tree: name a directory like /sys/fs/cgroup/muster"));
  }
  return absl::OkStatus();
}

absl::StatusOr<AttemptCgroups> AttemptCgroups::Make(const std::string& name,
                                                    const std::string& root) {
  ASSIGN_OR_RETURN(const std::string above, root.empty() ? OwnCgroupDirectory() : NamedGroup(root));
  const std::string path = absl::StrCat(above, "/muster-", name);
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot make"));
  }
  const absl::Status usable = CheckUsable(path);
  if (!usable.ok()) {
    rmdir(path.c_str());
    return usable;
  }
  GroupControllers controllers;
  controllers.group = above;
  controllers.offered = ReadCgroupFile(above, "cgroup.controllers");
  absl::Status passed = PassOn(above);
  passed.Update(EnableControllers(path));
  controllers.enabled = ReadCgroupFile(path, "cgroup.subtree_control");
  controllers.refusal = std::string(passed.message());
  AttemptCgroups made(path, LimitsBelow(controllers));
  if (!root.empty()) {
    made.aside_ = MakeAsideGroup(above).value_or("");  // then supervisors stay in the agent's group
  }
  return made;
}

std::string AttemptCgroups::PathFor(const std::string& attempt) const {
  return path_.empty() ? "" : absl::StrCat(path_, "/", attempt);
}

void AttemptCgroups::RemoveIfEmpty() const {
  if (!path_.empty()) {
    rmdir(path_.c_str());
  }
  if (!aside_.empty()) {
    rmdir(aside_.c_str());
  }
}

}  // namespace muster::agent
