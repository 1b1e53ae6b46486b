#include "topology/gpu/cuda_mps.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/identity/trusted_path.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::topology {
namespace {

// Whether somebody is bound to the socket at `path`. The kernel answers a socket of another type
// with EPROTOTYPE where somebody is, with ECONNREFUSED where nobody is (unix(7)); the daemon, whose
// socket keeps sequences of packets, learns of neither.
bool IsBound(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return false;
  }
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  const UniqueFd probe(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return probe.get() >= 0 &&
         (connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
          errno == EPROTOTYPE);
}

// The number in the file; 0: there is none. Opens nothing that waits for a writer.
pid_t PidIn(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  struct stat found {};
  std::array<char, 32> text{};
  if (!file.valid() || fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return 0;
  }
  const ssize_t length = read(file.get(), text.data(), text.size());
  pid_t pid = 0;
  return length > 0 && absl::SimpleAtoi(
                           absl::string_view(text.data(), static_cast<std::size_t>(length)), &pid)
             ? pid
             : 0;
}

// Whether the pid file names a living process that has not taken the daemon's number over.
bool LivesByPidFile(const std::string& path) {
  const pid_t pid = PidIn(path);
  if (pid <= 0 || (kill(pid, 0) != 0 && errno != EPERM)) {
    return false;
  }
  std::string name;
  std::getline(std::ifstream(absl::StrCat("/proc/", pid, "/comm")), name);
  return absl::StartsWith(name, "nvidia-cuda-mps");
}

}  // namespace

std::string MpsPipeDirectory() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): called before other threads change the environment
  const char* chosen = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  return chosen == nullptr || *chosen == '\0' ? "/tmp/nvidia-mps" : chosen;
}

absl::Status CheckMpsDirectory(const std::string& directory) {
  RETURN_IF_ERROR(CheckTrustedPath(directory));
  const std::string control = absl::StrCat(directory, "/control");
  struct stat place {};
  struct stat found {};
  if (stat(directory.c_str(), &place) != 0 || lstat(control.c_str(), &found) != 0) {
    return absl::ErrnoToStatus(errno, control);
  }
  // Also of a sticky directory, where anybody may bind what is not there yet.
  if ((place.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat(directory, ": others may change it; run: chmod go-w ", directory));
  }
  if (found.st_uid != 0 && found.st_uid != geteuid()) {
    return absl::PermissionDeniedError(
        absl::StrCat(control, ": belongs to uid ", found.st_uid, ", who is not root"));
  }
  return S_ISSOCK(found.st_mode) || S_ISFIFO(found.st_mode)
             ? absl::OkStatus()
             : absl::NotFoundError(absl::StrCat(control, ": is no socket and no pipe"));
}

bool MpsRunsIn(const std::string& directory) {
  const std::string control = absl::StrCat(directory, "/control");
  struct stat status {};
  if (!CheckMpsDirectory(directory).ok() || lstat(control.c_str(), &status) != 0) {
    return false;
  }
  if (S_ISSOCK(status.st_mode)) {
    return IsBound(control);
  }
  return S_ISFIFO(status.st_mode) &&
         LivesByPidFile(absl::StrCat(directory, "/nvidia-cuda-mps-control.pid"));
}

}  // namespace muster::topology
