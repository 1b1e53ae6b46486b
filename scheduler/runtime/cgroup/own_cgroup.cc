#include "scheduler/runtime/cgroup/own_cgroup.h"

#include <sys/stat.h>

#include <cerrno>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/file.h"

namespace muster {
namespace {

std::vector<std::string> LinesOf(std::string_view text) {
  return absl::StrSplit(std::string(text), '\n', absl::SkipEmpty());
}

}  // namespace

std::string CgroupMount(std::string_view mounts) {
  for (const std::string& line : LinesOf(mounts)) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ');
    if (fields.size() > 2 && fields[2] == "cgroup2") {
      return fields[1];
    }
  }
  return "";
}

absl::StatusOr<std::string> MountedCgroups() {
  ASSIGN_OR_RETURN(const std::string mounts, ReadFile("/proc/mounts"));
  std::string mount = CgroupMount(mounts);
  if (mount.empty()) {
    return absl::UnavailableError("no cgroup v2 is mounted");
  }
  return mount;
}

std::string OwnCgroup(std::string_view cgroups) {
  for (const std::string& line : LinesOf(cgroups)) {
    if (absl::StartsWith(line, "0::/")) {
      std::string own = line.substr(3);
      const std::string aside(kAsideGroup);
      if (!absl::EndsWith(own, aside)) {
        return own;
      }
      return own == aside ? "/" : own.substr(0, own.size() - aside.size());
    }
  }
  return "";
}

absl::StatusOr<std::string> OwnCgroupDirectory() {
  ASSIGN_OR_RETURN(const std::string mount, MountedCgroups());
  ASSIGN_OR_RETURN(const std::string cgroups, ReadFile("/proc/self/cgroup"));
  const std::string own = OwnCgroup(cgroups);
  if (own.empty()) {
    return absl::UnavailableError("no cgroup v2 is mounted");
  }
  return absl::StrCat(mount, own == "/" ? "" : own);
}

absl::StatusOr<std::string> MakeAsideGroup(const std::string& group) {
  std::string aside = absl::StrCat(group, std::string(kAsideGroup));
  if (mkdir(aside.c_str(), 0755) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat(aside, ": cannot make"));
  }
  return aside;
}

std::vector<std::string> CgroupProcesses(const std::string& group) {
  return LinesOf(ReadCgroupFile(group, "cgroup.procs"));
}

bool IsCgroupRoot(const std::string& group) {
  return ReadCgroupFile(group, "cgroup.type").empty();  // it alone has no type
}

absl::Status EnterCgroup(const std::string& group) {
  return WriteCgroupFile(group, "cgroup.procs", "0");
}

}  // namespace muster
