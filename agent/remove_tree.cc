#include "agent/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {
namespace {

constexpr int kDepthMax = 64;

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

absl::StatusOr<std::vector<std::string>> NamesIn(UniqueFd directory, const std::string& path) {
  const std::unique_ptr<DIR, CloseDirectory> stream(fdopendir(directory.get()));
  if (stream == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot read"));
  }
  directory.release();  // the stream's now
  std::vector<std::string> names;
  while (const dirent* entry =
             readdir(stream.get())) {  // NOLINT(concurrency-mt-unsafe): own stream
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  return names;
}

absl::Status RemoveAt(int parent, const std::string& name, const std::string& path, int depth) {
  if (unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) {
    return absl::OkStatus();
  }
  if (errno != EISDIR && errno != EPERM) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot remove"));
  }
  if (depth == kDepthMax) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": nested too deep to remove"));
  }
  UniqueFd fd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot open"));
  }
  UniqueFd listing(fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(std::move(listing), path));
  for (const std::string& child : names) {
    RETURN_IF_ERROR(RemoveAt(fd.get(), child, absl::StrCat(path, "/", child), depth + 1));
  }
  if (unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot remove"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RemoveTree(const std::string& path) {
  return RemoveAt(AT_FDCWD, path, path, 0);
}

}  // namespace muster
