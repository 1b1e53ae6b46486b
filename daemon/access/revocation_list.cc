#include "daemon/access/revocation_list.h"

#include <cerrno>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::daemon {
namespace {

bool Same(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool Same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         Same(a.st_mtim, b.st_mtim) && Same(a.st_ctim, b.st_ctim);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const std::string>> RevocationList::Now() const {
  struct stat found = {};
  if (path_.empty() || (stat(path_.c_str(), &found) != 0 && errno == ENOENT)) {
    return std::make_shared<const std::string>();
  }
  const MutexLock lock(&mutex_);
  if (found.st_ino == 0 || !Same(found, read_)) {
    ASSIGN_OR_RETURN(std::string text, ReadFile(path_));
    list_ = std::make_shared<const std::string>(std::move(text));
    read_ = found;  // of before the reading: what changes meanwhile is read again
  }
  return list_;
}

}  // namespace muster::daemon
