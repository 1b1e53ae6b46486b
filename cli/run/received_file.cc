#include "cli/run/received_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

constexpr std::uint64_t kBasis = 0xcbf29ce484222325U;
constexpr std::uint64_t kPrime = 0x100000001b3U;

// All that `fd` has, piece by piece.
absl::StatusOr<FileDigest> ReadAll(int fd,
                                   const std::function<absl::Status(std::string_view)>& take) {
  static std::array<char, std::size_t{1} << 18> buffer;
  FileDigest digest;
  digest.checksum = kBasis;
  while (true) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return absl::ErrnoToStatus(errno, "cannot read it");
    }
    if (got == 0) {
      return digest;
    }
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(got));
    for (const char byte : piece) {
      digest.checksum = (digest.checksum ^ static_cast<unsigned char>(byte)) * kPrime;
    }
    digest.bytes += piece.size();
    RETURN_IF_ERROR(take(piece));
  }
}

absl::Status WriteWhole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return absl::ErrnoToStatus(errno, "cannot write it");
    }
    bytes.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

// The directory, with no symbolic link on the way to it.
absl::StatusOr<UniqueFd> OpenDirectory(const std::string& path) {
  open_how how = {};
  how.flags = O_DIRECTORY | O_CLOEXEC | O_RDONLY;
  how.resolve = RESOLVE_NO_SYMLINKS;
  UniqueFd fd(static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof(how))));
  if (!fd.valid() && errno == ELOOP) {
    return absl::FailedPreconditionError(
        "a symbolic link is on the way there: name the real directory");
  }
  if (!fd.valid()) {
    return absl::ErrnoToStatus(errno, "cannot open its directory");
  }
  return fd;
}

// A file without a name, which goes with its last descriptor, until Keep(); where the file system
// has no such files, one under a name of its own.
class DraftFile {
 public:
  DraftFile(int directory, const std::string& name)
      : directory_(directory),
        draft_name_(absl::StrCat(".", name, ".muster-", getpid())),
        fd_(openat(directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600)) {
    named_ = !fd_.valid();
    if (named_) {
      fd_.reset(openat(directory, draft_name_.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    }
  }
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;
  ~DraftFile() {
    if (fd_.valid() && named_) {
      unlinkat(directory_, draft_name_.c_str(), 0);
    }
  }
  [[nodiscard]] int fd() const { return fd_.get(); }

  absl::Status Keep(const std::string& name, std::uint32_t mode, bool replace) {
    if (fchmod(fd_.get(), mode & 0777) != 0 || fsync(fd_.get()) != 0 || !GiveName()) {
      return absl::ErrnoToStatus(errno, "cannot write it");
    }
    if (renameat2(directory_, draft_name_.c_str(), directory_, name.c_str(),
                  replace ? 0 : RENAME_NOREPLACE) != 0) {
      return errno == EEXIST ? absl::AlreadyExistsError("is there already; --force replaces it")
                             : absl::ErrnoToStatus(errno, "cannot put it there");
    }
    named_ = false;
    return fsync(directory_) == 0 ? absl::OkStatus()
                                  : absl::ErrnoToStatus(errno, "cannot put it there");
  }

 private:
  bool GiveName() {
    if (!named_) {
      const std::string self = absl::StrCat("/proc/self/fd/", fd_.get());
      named_ =
          linkat(AT_FDCWD, self.c_str(), directory_, draft_name_.c_str(), AT_SYMLINK_FOLLOW) == 0;
    }
    return named_;
  }

  const int directory_;
  const std::string draft_name_;
  UniqueFd fd_;
  bool named_ = false;  // it has draft_name_
};

absl::Status ReceiveIn(int input, const ReceivedFile& file, const std::string& directory_path,
                       const std::string& name) {
  ASSIGN_OR_RETURN(const UniqueFd directory, OpenDirectory(directory_path));
  struct stat found = {};
  const bool there = fstatat(directory.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
  if (there && !S_ISREG(found.st_mode)) {
    return absl::FailedPreconditionError("is there already, and no ordinary file");
  }
  if (there && !file.replace) {
    return absl::AlreadyExistsError("is there already; --force replaces it");
  }
  DraftFile draft(directory.get(), name);
  if (draft.fd() < 0) {
    return absl::ErrnoToStatus(errno, "cannot be made");
  }
  ASSIGN_OR_RETURN(const FileDigest digest, ReadAll(input, [&draft](std::string_view piece) {
                     return WriteWhole(draft.fd(), piece);
                   }));
  if (!(digest == file.digest)) {
    return absl::DataLossError(absl::StrCat("what came is not what was sent: ", digest.bytes,
                                            " of ", file.digest.bytes, " bytes"));
  }
  return draft.Keep(name, file.mode, file.replace);
}

}  // namespace

absl::StatusOr<FileDigest> DigestOf(int fd) {
  return ReadAll(fd, [](std::string_view) { return absl::OkStatus(); });
}

absl::Status Receive(int input, const ReceivedFile& file) {
  const std::size_t slash = file.path.rfind('/');
  const std::string name = file.path.substr(slash + 1);
  if (file.path.front() != '/' || name.empty() || name == "." || name == "..") {
    return absl::InvalidArgumentError(absl::StrCat(file.path, ": is not the path of a file"));
  }
  const absl::Status status =
      ReceiveIn(input, file, slash == 0 ? "/" : file.path.substr(0, slash), name);
  return status.ok() ? status
                     : absl::Status(status.code(),
                                    absl::StrCat(file.path, ": ", std::string(status.message())));
}

}  // namespace muster::cli
