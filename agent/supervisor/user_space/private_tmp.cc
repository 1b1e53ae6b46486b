#include "agent/supervisor/user_space/private_tmp.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

constexpr const char* kTmp = "/tmp";
constexpr const char* kShared = "/dev/shm";

// By a descriptor: what is mounted is the directory that was looked at, and no link.
bool BindToTmp(const char* directory) {
  const UniqueFd place(open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return place.valid() && mount(absl::StrCat("/proc/self/fd/", place.get()).c_str(), kTmp, nullptr,
                                MS_BIND, nullptr) == 0;
}

// A process that makes the namespace, says so (0, or errno) and keeps it until it is let go.
[[noreturn]] void HoldMounts(const char* directory, int tell, int wait) {
  // Mounts made outside from now on are seen here; those made here are not seen outside.
  const bool made = unshare(CLONE_NEWNS) == 0 &&
                    mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
                    BindToTmp(directory) &&
                    mount("tmpfs", kShared, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0;
  const int error = made ? 0 : errno;
  char let_go = 0;
  const bool said = write(tell, &error, sizeof(error)) == sizeof(error);
  const bool waited = said && read(wait, &let_go, 1) == 0;
  _exit(waited ? 0 : 1);
}

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

absl::StatusOr<PrivateTmp> MakePrivateTmp(const std::string& directory) {
  // Others on the node do not get past the outer directory, which is ours alone.
  const std::string inner = directory + "/tmp";
  for (const std::string& each : {directory, inner}) {
    if (mkdir(each.c_str(), 0700) != 0 && errno != EEXIST) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", each));
    }
  }
  if (chmod(inner.c_str(), 01777) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", inner, " to its job"));
  }
  PrivateTmp made;
  made.tmp.reset(open(inner.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made.tmp.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", inner));
  }
  std::array<int, 2> up{-1, -1};
  std::array<int, 2> down{-1, -1};
  if (pipe2(up.data(), O_CLOEXEC) != 0 || pipe2(down.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  UniqueFd told(up[0]);
  UniqueFd tell(up[1]);
  UniqueFd wait(down[0]);
  UniqueFd let_go(down[1]);
  const pid_t child = fork();
  if (child < 0) {
    return absl::ErrnoToStatus(errno, "cannot fork");
  }
  if (child == 0) {
    let_go.reset();
    HoldMounts(inner.c_str(), tell.get(), wait.get());
  }
  tell.reset();
  wait.reset();
  int error = ECHILD;
  const bool said = read(told.get(), &error, sizeof(error)) == sizeof(error);
  if (said && error == 0) {
    made.mounts.reset(open(absl::StrCat("/proc/", child, "/ns/mnt").c_str(), O_RDONLY | O_CLOEXEC));
    error = made.mounts.valid() ? 0 : errno;
  }
  let_go.reset();
  waitpid(child, nullptr, 0);
  if (!made.mounts.valid()) {
    return absl::ErrnoToStatus(error, "cannot make a private /tmp and /dev/shm");
  }
  return made;
}

}  // namespace muster::agent
