#include "agent/supervisor/private_tmp.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

constexpr const char* kTmp = "/tmp";
constexpr const char* kShared = "/dev/shm";

}  // namespace

absl::Status MayHavePrivateTmp(const std::string& state) {
  if (geteuid() != 0) {
    return absl::FailedPreconditionError("a private /tmp needs an agent that is root's");
  }
  std::error_code error;
  const std::string path = std::filesystem::weakly_canonical(state, error).string();
  for (const char* hidden : {kTmp, kShared}) {
    if (path == hidden || absl::StartsWith(path, absl::StrCat(hidden, "/"))) {
      return absl::FailedPreconditionError(
          absl::StrCat("with a private /tmp, --state cannot be below ", hidden));
    }
  }
  return absl::OkStatus();
}

absl::Status MakePrivateTmp(const std::string& directory) {
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", directory));
  }
  if (chmod(directory.c_str(), 01777) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", directory, " to its job"));
  }
  // Mounts made outside from now on are seen here; those made here are not seen outside.
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0 ||
      mount(directory.c_str(), kTmp, nullptr, MS_BIND, nullptr) != 0 ||
      mount("tmpfs", kShared, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a private /tmp and /dev/shm");
  }
  return absl::OkStatus();
}

}  // namespace muster
