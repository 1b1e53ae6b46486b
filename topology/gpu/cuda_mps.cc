#include "topology/gpu/cuda_mps.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

// Whether the pid file names a living process that has not taken the daemon's number over.
bool LivesByPidFile(const std::string& path) {
  pid_t pid = 0;
  if (!(std::ifstream(path) >> pid) || pid <= 0 || (kill(pid, 0) != 0 && errno != EPERM)) {
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

bool MpsRunsIn(const std::string& directory) {
  const std::string control = absl::StrCat(directory, "/control");
  struct stat status {};
  if (stat(control.c_str(), &status) != 0) {
    return false;
  }
  if (S_ISSOCK(status.st_mode)) {
    return IsBound(control);
  }
  return S_ISFIFO(status.st_mode) &&
         LivesByPidFile(absl::StrCat(directory, "/nvidia-cuda-mps-control.pid"));
}

}  // namespace muster::topology
