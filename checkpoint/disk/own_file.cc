#include "checkpoint/disk/own_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace muster::checkpoint {
namespace {

// The most that one call moves, so that an interrupted one has lost little.
constexpr std::uint64_t kAtOnce = std::uint64_t{8} << 20;

Error CheckOwner(const struct stat& about, const std::string& name) {
  if (about.st_uid != geteuid()) {
    return MakeError(Fault::kForeign, name + ": belongs to another user");
  }
  return {};
}

Error CheckPlain(const struct stat& about, const std::string& name) {
  if (!S_ISREG(about.st_mode)) {
    return MakeError(Fault::kForeign, name + ": is no plain file");
  }
  if (about.st_nlink != 1) {
    return MakeError(Fault::kForeign, name + ": has another name elsewhere (a hard link)");
  }
  if ((about.st_mode & (S_ISUID | S_ISGID)) != 0) {
    return MakeError(Fault::kForeign, name + ": has a set-user-id or set-group-id bit");
  }
  return CheckOwner(about, name);
}

Error OpenError(const std::string& name, int error_number) {
  return error_number == ELOOP    ? MakeError(Fault::kForeign, name + ": is a link")
         : error_number == ENOENT ? MakeError(Fault::kCorrupt, name + ": is missing")
                                  : SystemError(name + ": open", error_number);
}

}  // namespace

Result<int> OpenOwnFile(Disk& disk, int directory, const std::string& name, std::uint64_t* size) {
  OpenFile file(disk, disk.OpenAt(directory, name.c_str(),
                                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0));
  if (!file.ok()) {
    return {-1, OpenError(name, errno)};
  }
  struct stat about {};
  if (disk.Stat(file.get(), &about) != 0) {
    return {-1, SystemError(name + ": stat", errno)};
  }
  if (Error error = CheckPlain(about, name); error.failed()) {
    return {-1, error};
  }
  *size = static_cast<std::uint64_t>(about.st_size);
  return {file.Release(), {}};
}

Result<int> OpenOwnDirectory(Disk& disk, int directory, const std::string& name) {
  OpenFile file(disk, disk.OpenAt(directory, name.c_str(),
                                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0));
  if (!file.ok()) {
    return {-1, errno == ENOTDIR ? MakeError(Fault::kForeign, name + ": is no directory")
                                 : OpenError(name, errno)};
  }
  struct stat about {};
  if (disk.Stat(file.get(), &about) != 0) {
    return {-1, SystemError(name + ": stat", errno)};
  }
  if (Error error = CheckOwner(about, name); error.failed()) {
    return {-1, error};
  }
  return {file.Release(), {}};
}

Error ReadFully(Disk& disk, int fd, void* bytes, std::uint64_t size, std::uint64_t offset) {
  char* next = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t got = disk.ReadAt(fd, next, std::min(size, kAtOnce), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return SystemError("read", errno);
    }
    if (got == 0) {
      return MakeError(Fault::kCorrupt, "the file ends early");
    }
    next += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::uint64_t>(got);
  }
  return {};
}

Error WriteFully(Disk& disk, int fd, const void* bytes, std::uint64_t size) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = disk.Write(fd, next, std::min(size, kAtOnce));
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return SystemError("write", written < 0 ? errno : ENOSPC);
    }
    next += written;
    size -= static_cast<std::uint64_t>(written);
  }
  return {};
}

}  // namespace muster::checkpoint
