#include "agent/supervisor/user_space/output_path.h"

#include <fcntl.h>
#include <sys/statvfs.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

std::string Resolve(const std::string& work_dir, const std::string& path) {
  return path.empty() || path[0] == '/' ? path : absl::StrCat(work_dir, "/", path);
}

absl::Status CannotOpen(const char* what, const std::string& path, int error) {
  const std::string text = absl::StrCat("cannot open ", what, " ", path);
  return error == ENXIO
             ? absl::FailedPreconditionError(text + ": it is a FIFO that no process reads")
             : absl::ErrnoToStatus(error, text);
}

// Opened without waiting, used with waiting.
absl::StatusOr<UniqueFd> Open(const char* what, const std::string& path, int flags) {
  UniqueFd fd(open(path.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666));
  if (!fd.valid()) {
    return CannotOpen(what, path, errno);
  }
  const int current = fcntl(fd.get(), F_GETFL);
  if (current < 0 || fcntl(fd.get(), F_SETFL, current & ~O_NONBLOCK) != 0) {
    return CannotOpen(what, path, errno);
  }
  return fd;
}

}  // namespace

absl::StatusOr<UniqueFd> OpenOutput(const std::string& work_dir, const std::string& path,
                                    bool append) {
  return Open("output", Resolve(work_dir, path),
              O_WRONLY | O_CREAT | O_APPEND | (append ? 0 : O_TRUNC));
}

bool IsOnFullDisk(const std::string& work_dir, const std::string& path) {
  struct statvfs found = {};
  return statvfs(Resolve(work_dir, path).c_str(), &found) == 0 && found.f_blocks > 0 &&
         found.f_bavail == 0;
}

absl::StatusOr<UniqueFd> OpenInput(const std::string& work_dir, const std::string& path) {
  return Open("input", path.empty() ? "/dev/null" : Resolve(work_dir, path), O_RDONLY);
}

}  // namespace muster::agent
