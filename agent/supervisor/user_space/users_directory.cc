#include "agent/supervisor/user_space/users_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace muster::agent {

absl::Status MakeUsersDirectory(const std::string& directory, const JobUser* user) {
  if (user == nullptr) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    return absl::OkStatus();
  }
  const std::string path = absl::StrCat(directory, "/", user->uid);
  struct stat top = {};
  if ((mkdir(directory.c_str(), 0711) != 0 && errno != EEXIST) ||
      lstat(directory.c_str(), &top) != 0 || !S_ISDIR(top.st_mode) || top.st_uid != geteuid() ||
      (top.st_mode & 022) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the cache ", directory,
                     " is no directory of root's alone: see cache in [containers] or [staging]"));
  }
  LetPass(directory);
  if (mkdir(path.c_str(), 0700) != 0) {
    return errno == EEXIST ? absl::OkStatus()
                           : absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", path));
  }
  return lchown(path.c_str(), user->uid, user->gid) == 0
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, absl::StrCat("cannot give away ", path));
}

}  // namespace muster::agent
