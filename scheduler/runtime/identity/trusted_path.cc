#include "scheduler/runtime/identity/trusted_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

// As many as the kernel follows.
constexpr int kLinksMax = 40;

absl::StatusOr<struct stat> Examine(const std::string& path) {
  struct stat info = {};
  if (lstat(path.c_str(), &info) != 0) {
    return absl::ErrnoToStatus(errno, path);
  }
  return info;
}

absl::Status CheckOne(const std::string& path, const struct stat& info, uid_t top) {
  if (info.st_uid != 0 && info.st_uid != geteuid() && info.st_uid != top) {
    return absl::PermissionDeniedError(absl::StrCat(path, ": belongs to uid ", info.st_uid,
                                                    ", who may change it; run: chown ", geteuid(),
                                                    " ", path));
  }
  const bool everybody = (info.st_mode & S_IWOTH) != 0;
  const bool group = (info.st_mode & S_IWGRP) != 0 && info.st_gid != getegid();
  const bool sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
  if (!S_ISLNK(info.st_mode) && (everybody || group) && !sticky) {
    return absl::PermissionDeniedError(
        absl::StrFormat("%s: others may change it (mode %04o); run: chmod go-w %s", path,
                        info.st_mode & 07777, path));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TargetOf(const std::string& link) {
  std::array<char, PATH_MAX> target = {};
  const ssize_t length = readlink(link.c_str(), target.data(), target.size());
  if (length < 0) {
    return absl::ErrnoToStatus(errno, link);
  }
  return std::string(target.data(), static_cast<std::size_t>(length));
}

// A path that is walked as the kernel does: what is behind us, and what is to come.
class Walk {
 public:
  explicit Walk(const std::string& path) { Prepend(path); }

  absl::Status Check() {
    ASSIGN_OR_RETURN(const struct stat root, Examine("/"));
    RETURN_IF_ERROR(CheckOne("/", root, root.st_uid));
    while (!ahead_.empty()) {
      const std::string name = ahead_.front();
      ahead_.pop_front();
      if (name == "..") {
        behind_.resize(behind_.empty() ? 0 : behind_.find_last_of('/'));
      } else if (!name.empty() && name != ".") {
        RETURN_IF_ERROR(Enter(absl::StrCat(behind_, "/", name), root.st_uid));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Enter(const std::string& path, uid_t top) {
    ASSIGN_OR_RETURN(const struct stat info, Examine(path));
    RETURN_IF_ERROR(CheckOne(path, info, top));
    if (!S_ISLNK(info.st_mode)) {
      behind_ = path;
      return absl::OkStatus();
    }
    struct stat opened = {};
    if (behind_ == descriptors_ && stat(path.c_str(), &opened) == 0 && !S_ISDIR(opened.st_mode)) {
      behind_ = path;
      return CheckOne(path, opened, top);
    }
    if (++links_ > kLinksMax) {
      return absl::FailedPreconditionError(absl::StrCat(path, ": too many symbolic links"));
    }
    ASSIGN_OR_RETURN(const std::string target, TargetOf(path));
    Prepend(target);
    return absl::OkStatus();
  }

  void Prepend(const std::string& path) {
    if (path.starts_with('/')) {
      behind_.clear();
    }
    const std::vector<std::string> names = absl::StrSplit(path, '/', absl::SkipEmpty());
    ahead_.insert(ahead_.begin(), names.begin(), names.end());
  }

  // The links there lead to what is open, by whatever name, and so past all that has names.
  const std::string descriptors_ = absl::StrCat("/proc/", getpid(), "/fd");
  std::string behind_;  // no links in it; "" is the root
  std::deque<std::string> ahead_;
  int links_ = 0;
};

}  // namespace

absl::Status CheckTrustedPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) {
    return absl::ErrnoToStatus(error.value(), path);
  }
  return Walk(absolute.string()).Check();
}

}  // namespace muster
