#include "agent/supervisor/attempt/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

absl::Status ReplaceFile(const std::string& path, std::string_view content) {
  const std::string fresh = absl::StrCat(path, ".new");
  const UniqueFd fd(
      open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", fresh));
  }
  for (std::size_t written = 0; written < content.size();) {
    const ssize_t got = write(fd.get(), content.data() + written, content.size() - written);
    if (got < 0 && errno != EINTR) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", fresh));
    }
    written += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  if (rename(fresh.c_str(), path.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot rename ", fresh));
  }
  return absl::OkStatus();
}

}  // namespace muster::agent
