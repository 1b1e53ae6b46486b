#include "scheduler/runtime/identity/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {
namespace {

constexpr std::size_t kBytesMax = std::size_t{1} << 20;

absl::Status CheckOwner(const std::string& path, const struct stat& info) {
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": not a plain file"));
  }
  if (info.st_uid != geteuid() && info.st_uid != 0) {
    return absl::PermissionDeniedError(absl::StrCat(
        path, ": belongs to uid ", info.st_uid, ", who may change it; chown ", geteuid(), " it"));
  }
  if ((info.st_mode & 077) != 0) {
    return absl::PermissionDeniedError(absl::StrFormat(
        "%s: others may read or change it (mode %04o); chmod 600 it", path, info.st_mode & 07777));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadPrivateFile(const std::string& path) {
  // A FIFO in its place must not hold us up.
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info = {};
  if (!fd.valid() || fstat(fd.get(), &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot open"));
  }
  RETURN_IF_ERROR(CheckOwner(path, info));
  std::string content;
  std::array<char, 4096> buffer = {};
  while (true) {
    const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got == 0) {
      return content;
    }
    if (got < 0 && errno != EINTR) {
      return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot read"));
    }
    content.append(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    if (content.size() > kBytesMax) {
      return absl::OutOfRangeError(absl::StrCat(path, ": larger than ", kBytesMax, " bytes"));
    }
  }
}

}  // namespace muster
