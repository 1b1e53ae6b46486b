#include "cli/up/own_group.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/model/value/fingerprint.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/cgroup/own_cgroup.h"

namespace muster::cli {
namespace {

// A group of ours that may be made, or is there.
struct Place {
  std::string above;
  std::string group;
  bool is_there = false;           // left of a start before this one, with what runs on in it
  std::ptrdiff_t controllers = 0;  // how many it can pass on of those that hold jobs
};

std::ptrdiff_t ControllersOf(const std::string& group) {
  const std::vector<std::string> offered =
      absl::StrSplit(ReadCgroupFile(group, "cgroup.controllers"), ' ');
  return std::count_if(offered.begin(), offered.end(), [](const std::string& controller) {
    return controller == "memory" || controller == "cpuset" || controller == "pids" ||
           controller == "io";
  });
}

// Whether a process other than us is in it.
bool HasOthers(const std::string& group) {
  const std::vector<std::string> pids = CgroupProcesses(group);
  const std::string own = absl::StrCat(getpid());
  return std::any_of(pids.begin(), pids.end(),
                     [&own](const std::string& pid) { return pid != own; });
}

// The groups called `name` below those above `own` that may pass controllers on: one that is there
// first, then the one with the most controllers, of two with as many the nearer one.
std::vector<Place> PlacesAbove(const std::string& own, const std::string& mount,
                               const std::string& name) {
  std::vector<Place> places;
  for (std::string above = own; above.size() > mount.size();) {
    above.resize(above.rfind('/'));
    if (IsCgroupRoot(above) || CgroupProcesses(above).empty()) {
      const std::string group = absl::StrCat(above, "/", name);
      places.push_back({above, group, access(group.c_str(), F_OK) == 0, ControllersOf(above)});
    }
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.is_there, a.controllers) > std::pair(b.is_there, b.controllers);
  });
  return places;
}

// Makes `group` below `above` and moves us into it, as far aside as its daemons go: of a start
// before this one jobs may be left in it, and it passes controllers on.
absl::Status EnterBelow(const std::string& above, const std::string& group) {
  if (mkdir(group.c_str(), 0755) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat(group, ": cannot make"));
  }
  RETURN_IF_ERROR(EnableControllers(above));
  ASSIGN_OR_RETURN(const std::string aside, MakeAsideGroup(group));
  return EnterCgroup(aside);
}

}  // namespace

absl::StatusOr<OwnGroup> OwnGroup::Enter(const std::string& state, const Environment& environment) {
  const absl::StatusOr<std::string> mount = MountedCgroups();
  const absl::StatusOr<std::string> own = OwnCgroupDirectory();
  if (!mount.ok() || !own.ok() || IsCgroupRoot(*own) || !HasOthers(*own) ||
      environment.Has("MUSTER_JOB_ID") || environment.Has("SLURM_JOB_ID")) {
    return OwnGroup();
  }
  absl::Status why = absl::FailedPreconditionError(
      absl::StrCat("the control group ", *own, " has other processes (pid ",
                   CgroupProcesses(*own).front(), "), and so has each above it"));
  const std::string name = absl::StrFormat(
      "muster-up-%08x", static_cast<std::uint32_t>(Fingerprint().Add(state).value()));
  const std::vector<Place> places = PlacesAbove(*own, *mount, name);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const absl::Status entered = EnterBelow(places[i].above, places[i].group);
    if (entered.ok()) {
      return OwnGroup(places[i].group, *own);
    }
    RemoveCgroup(places[i].group);
    why = i == 0 ? entered : why;  // the place that was wanted most
  }
  return why;
}

OwnGroup::~OwnGroup() {
  if (!group_.empty() && EnterCgroup(before_).ok()) {
    RemoveCgroup(group_);
  }
}

}  // namespace muster::cli
