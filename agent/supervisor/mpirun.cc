#include "agent/supervisor/mpirun.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {

std::string FindRemoteShell(const std::string& supervisor) {
  const std::string folder = supervisor.substr(0, supervisor.rfind('/'));
  for (const char* place : {"/", "/../libexec/muster/"}) {
    std::string path = absl::StrCat(folder, place, "muster-rsh");
    if (access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return "";
}

std::string HostfileOf(const Allocation& allocation) {
  std::string text;
  for (const NodeAllocation& node : allocation.nodes) {
    absl::StrAppend(&text, "# cpus ", node.name, " ", node.cpus.Count(), "\n", node.name,
                    " slots=", std::max<std::size_t>(node.ranks.size(), 1), "\n");
  }
  return text;
}

absl::Status WriteHostfile(const std::string& path, const Allocation& allocation,
                           const JobUser* user) {
  const std::string text = HostfileOf(allocation);
  const UniqueFd fd(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid() || (user != nullptr && fchown(fd.get(), user->uid, user->gid) != 0) ||
      write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  }
  return absl::OkStatus();
}

}  // namespace muster
