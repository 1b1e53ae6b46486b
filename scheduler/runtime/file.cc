#include "scheduler/runtime/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

absl::Status ErrnoAt(const std::string& path, const char* what) {
  const int error = errno;
  return absl::ErrnoToStatus(error, absl::StrCat(path, ": cannot ", what));
}

// Opens for us alone: never inherited by a child, and retried when a signal interrupts.
UniqueFd Open(const std::string& path, int flags, mode_t mode = 0) {
  int fd = -1;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return UniqueFd(fd);
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

absl::Status WriteAll(int fd, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      return ErrnoAt(path, "write");
    }
    content.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status SyncDirectory(const std::string& directory) {
  const UniqueFd fd = Open(directory, O_RDONLY | O_DIRECTORY);
  if (!fd.valid()) {
    return ErrnoAt(directory, "open");
  }
  if (fsync(fd.get()) != 0) {
    return ErrnoAt(directory, "fsync");
  }
  return absl::OkStatus();
}

// Fills the temporary file and makes it durable; the caller renames or removes it.
absl::Status FillTemporary(int fd, const std::string& path, std::string_view content, mode_t mode) {
  RETURN_IF_ERROR(WriteAll(fd, path, content));
  if (fchmod(fd, mode) != 0) {
    return ErrnoAt(path, "set the mode of");
  }
  if (fsync(fd) != 0) {
    return ErrnoAt(path, "fsync");
  }
  return absl::OkStatus();
}

// Makes what is durable in the directory survive a loss of power, which takes a name that was not
// synced with all below it. What we may write to and not read cannot be synced by us.
absl::Status MakeDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0) {
    return errno == EEXIST ? absl::OkStatus() : ErrnoAt(path, "make the directory");
  }
  absl::Status synced = SyncDirectory(DirectoryOf(path));
  return absl::IsPermissionDenied(synced) ? absl::OkStatus() : synced;
}

absl::Status MakeDirectories(const std::string& path) {
  absl::Status made = MakeDirectory(path);
  if (!absl::IsNotFound(made) || path.empty()) {
    return made;
  }
  RETURN_IF_ERROR(MakeDirectories(DirectoryOf(path)));
  return MakeDirectory(path);
}

// The pid that the holder wrote, for people; the lock itself does not depend on it.
std::string HolderOf(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, 64);
  if (!text.ok() || text->empty()) {
    return "another process";
  }
  return absl::StrCat("process ", std::string(absl::StripAsciiWhitespace(*text)));
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t bytes_max) {
  const UniqueFd fd = Open(path, O_RDONLY);
  if (!fd.valid()) {
    return ErrnoAt(path, "open");
  }
  std::string content;
  std::array<char, 65536>
      buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it.
  while (true) {
    const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return ErrnoAt(path, "read");
    }
    if (got == 0) {
      return content;
    }
    content.append(buffer.data(), static_cast<size_t>(got));
    if (content.size() > bytes_max) {
      return absl::OutOfRangeError(absl::StrCat(path, ": larger than ", bytes_max, " bytes"));
    }
  }
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view content, mode_t mode) {
  std::string temporary = absl::StrCat(path, ".XXXXXX");
  UniqueFd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) {
    return ErrnoAt(path, "make a temporary file beside");
  }
  absl::Status status = FillTemporary(fd.get(), path, content, mode);
  fd.reset();
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = ErrnoAt(path, "replace");
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  return SyncDirectory(DirectoryOf(path));
}

absl::Status EnsurePrivateDirectory(const std::string& path) {
  RETURN_IF_ERROR(MakeDirectories(path));
  const UniqueFd fd = Open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!fd.valid()) {
    return ErrnoAt(path, "open as a directory");
  }
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0) {
    return ErrnoAt(path, "examine");
  }
  if (info.st_uid != geteuid()) {
    return absl::PermissionDeniedError(absl::StrCat(path, ": owned by uid ", info.st_uid,
                                                    ", not by us (uid ", geteuid(),
                                                    "); choose another directory"));
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::PermissionDeniedError(
        absl::StrFormat("%s: others may write to it (mode %04o); run: chmod go-w %s", path,
                        info.st_mode & 07777, path));
  }
  return absl::OkStatus();
}

absl::StatusOr<LockFile> LockFile::Take(const std::string& path) {
  UniqueFd fd = Open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!fd.valid()) {
    return ErrnoAt(path, "open");
  }
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
    if (errno == EAGAIN || errno == EACCES) {
      return absl::FailedPreconditionError(absl::StrCat(
          path, ": locked by ", HolderOf(path), "; stop it or choose another state directory"));
    }
    return ErrnoAt(path, "lock");
  }
  if (ftruncate(fd.get(), 0) != 0) {
    return ErrnoAt(path, "truncate");
  }
  RETURN_IF_ERROR(WriteAll(fd.get(), path, absl::StrCat(getpid(), "\n")));
  return LockFile(std::move(fd));
}

}  // namespace muster
