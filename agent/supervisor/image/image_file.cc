#include "agent/supervisor/image/image_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

absl::StatusOr<std::string> ReadInRoot(const std::string& root, const std::string& path,
                                       std::size_t bytes_max) {
  const UniqueFd top(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  open_how how = {};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const UniqueFd file(
      static_cast<int>(syscall(SYS_openat2, top.get(), path.c_str(), &how, sizeof(how))));
  struct stat found = {};
  if (!file.valid() || fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return absl::NotFoundError(absl::StrCat(path, " is no file of the image"));
  }
  std::string text(std::min(bytes_max, static_cast<std::size_t>(found.st_size)), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = read(file.get(), text.data() + filled, text.size() - filled);
    if (got <= 0) {
      break;
    }
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

std::string WithEntry(const std::string& text, const std::string& line, unsigned id) {
  for (const std::string& each : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    const std::vector<std::string> fields = absl::StrSplit(each, ':');
    if (fields.size() > 2 && fields[2] == absl::StrCat(id)) {
      return text;
    }
  }
  return absl::StrCat(line, "\n", text);
}

}  // namespace muster::agent
