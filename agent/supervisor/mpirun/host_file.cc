#include "agent/supervisor/mpirun/host_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

absl::Status WriteFor(const JobUser* user, const std::string& path, const std::string& text) {
  const UniqueFd fd(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid() || (user != nullptr && fchown(fd.get(), user->uid, user->gid) != 0) ||
      write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  }
  return absl::OkStatus();
}

}  // namespace

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

std::string RankProgram(const std::string& remote_shell) {
  std::string path = remote_shell.substr(0, remote_shell.rfind('/')) + "/muster-rank";
  return access(path.c_str(), X_OK) == 0 ? path : "";
}

std::string HostfileOf(const Allocation& allocation) {
  std::string text;
  for (const NodeAllocation& node : allocation.nodes) {
    absl::StrAppend(&text, "# cpus ", node.name, " ", node.cpus.Count(), "\n", node.name,
                    " slots=", std::max<std::size_t>(node.ranks.size(), 1), "\n");
  }
  return text;
}

std::string HydraHostfileOf(const Allocation& allocation) {
  std::string text;
  for (const NodeAllocation& node : allocation.nodes) {
    absl::StrAppend(&text, node.name, ":", std::max<std::size_t>(node.ranks.size(), 1), "\n");
  }
  return text;
}

std::string HydraHostfile(const std::string& hostfile) {
  return hostfile + ".hydra";
}

std::string RankSocket(const std::string& hostfile) {
  return hostfile.substr(0, hostfile.rfind('/')) + "/ranks";
}

absl::Status WriteHostfile(const std::string& path, const Allocation& allocation,
                           const JobUser* user) {
  RETURN_IF_ERROR(WriteFor(user, HydraHostfile(path), HydraHostfileOf(allocation)));
  return WriteFor(user, path, HostfileOf(allocation));
}

}  // namespace muster::agent
