// muster-job-keeper: keeps the control group of a node's jobs, as the one process of the unit that
// it belongs to (packaging/systemd/muster-jobs.service); an empty group would be removed.
//
// Steps aside into a group of its own below the unit's, because no group may both have processes
// and pass controllers on, says that it is ready, and sleeps. With --end, at the machine's end:
// kills the supervisors there and then the jobs, so that nobody is left to record that a job
// failed; the next agent finds another boot and says so. Exit status: 0, or 1 when there is no such
// group.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/cgroup/own_cgroup.h"
#include "scheduler/runtime/service/systemd.h"

namespace muster::agent {
namespace {

constexpr std::string_view kEnd = "--end";

// The unit's group. A command that stops the unit is in one below it.
absl::StatusOr<std::string> UnitGroup() {
  constexpr std::string_view kControl = "/.control";
  ASSIGN_OR_RETURN(std::string own, OwnCgroupDirectory());
  if (own.ends_with(kControl)) {
    own.resize(own.size() - kControl.size());
  }
  return own;
}

absl::Status Keep(const std::string& group) {
  ASSIGN_OR_RETURN(const std::string aside, MakeAsideGroup(group));
  RETURN_IF_ERROR(WriteCgroupFile(aside, "cgroup.procs", "0"));
  ServiceManager::FromEnvironment().Ready("keeps the jobs' control groups");
  while (true) {
    pause();
  }
}

absl::Status EndAll(const std::string& group) {
  KillCgroup(absl::StrCat(group, std::string(kAsideGroup)));
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(group, error)) {
    if (entry.is_directory() && entry.path().filename().string().starts_with("muster-")) {
      KillCgroup(entry.path().string());
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace muster::agent

int main(int argc, char** argv) {
  const bool end = argc == 2 && argv[1] == muster::agent::kEnd;
  if (argc > 2 || (argc == 2 && !end)) {
    std::fputs("muster-job-keeper: usage: muster-job-keeper [--end]\n", stderr);
    return 2;
  }
  const absl::StatusOr<std::string> group = muster::agent::UnitGroup();
  const absl::Status status = !group.ok() ? group.status()
                              : end       ? muster::agent::EndAll(*group)
                                          : muster::agent::Keep(*group);
  if (!status.ok()) {
    std::fprintf(stderr, "muster-job-keeper: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  return 0;
}
