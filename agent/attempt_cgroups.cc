#include "agent/attempt_cgroups.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
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

std::string OwnCgroup(std::string_view cgroups) {
  for (const std::string& line : LinesOf(cgroups)) {
    if (absl::StartsWith(line, "0::/")) {
      return line.substr(3);
    }
  }
  return "";
}

absl::StatusOr<AttemptCgroups> AttemptCgroups::Make(const std::string& name) {
  ASSIGN_OR_RETURN(const std::string mounts, ReadFile("/proc/mounts"));
  ASSIGN_OR_RETURN(const std::string cgroups, ReadFile("/proc/self/cgroup"));
  const std::string mount = CgroupMount(mounts);
  const std::string own = OwnCgroup(cgroups);
  if (mount.empty() || own.empty()) {
    return absl::UnavailableError("no cgroup v2 is mounted");
  }
  const std::string path = absl::StrCat(mount, own == "/" ? "" : own, "/muster-", name);
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot make"));
  }
  if (access((path + "/cgroup.kill").c_str(), W_OK) != 0) {
    const absl::Status status =
        absl::ErrnoToStatus(errno, absl::StrCat(path, "/cgroup.kill: cannot write"));
    rmdir(path.c_str());
    return status;
  }
  return AttemptCgroups(path);
}

std::string AttemptCgroups::PathFor(const std::string& attempt) const {
  return path_.empty() ? "" : absl::StrCat(path_, "/", attempt);
}

void AttemptCgroups::RemoveIfEmpty() const {
  if (!path_.empty()) {
    rmdir(path_.c_str());
  }
}

}  // namespace muster
