#include "checkpoint/disk/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "checkpoint/disk/disk.h"

namespace muster::checkpoint {
namespace {

std::string DirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

std::string FileError::Text() const {
  return failed() ? std::string(step) + ": " + std::generic_category().message(error_number)
                  : "no error";
}

DurableFile::DurableFile(std::string path, Disk& disk)
    : disk_(disk),
      path_(std::move(path)),
      temporary_(path_ + ".tmp"),
      directory_(DirectoryOf(path_)) {}

DurableFile::~DurableFile() {
  if (ours_) {
    disk_.UnlinkAt(AT_FDCWD, temporary_.c_str(), 0);
  }
  if (fd_ >= 0) {
    disk_.Close(fd_);
  }
}

void DurableFile::Reached(Step step) const {
  if (watch_ != nullptr) {
    watch_(step);
  }
}

FileError DurableFile::Fail(const char* step, int error_number) {
  failed_ = true;
  return FileError{step, error_number};
}

FileError DurableFile::Open() {
  // What a killed writer left is taken over; a link in its place is not followed.
  fd_ = disk_.OpenAt(AT_FDCWD, temporary_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                     kPrivateFile);
  if (fd_ < 0) {
    return Fail("open", errno);
  }
  // A living writer of the same path keeps it: the lock goes with its process.
  if (disk_.LockExclusively(fd_) != 0) {
    return Fail("lock", errno);
  }
  // The former holder may have renamed it or taken it away between our open and our lock.
  struct stat held {};
  struct stat named {};
  if (disk_.Stat(fd_, &held) != 0 || disk_.StatAt(AT_FDCWD, temporary_.c_str(), &named) != 0 ||
      held.st_ino != named.st_ino || held.st_dev != named.st_dev) {
    return Fail("lock", EAGAIN);
  }
  ours_ = true;
  if (disk_.Truncate(fd_, 0) != 0) {
    return Fail("truncate", errno);
  }
  Reached(Step::kOpened);
  return FileError();
}

FileError DurableFile::Write(const void* bytes, std::size_t size) {
  if (!ours_ || failed_) {
    return Fail("write", EBADF);
  }
  flushed_ = false;
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = disk_.Write(fd_, next, size);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return Fail("write", errno);
    }
    if (written == 0) {
      return Fail("write", ENOSPC);
    }
    next += written;
    size -= static_cast<std::size_t>(written);
  }
  Reached(Step::kWritten);
  return FileError();
}

void DurableFile::BeginFlush() {
  disk_.BeginFlush(fd_, 0, 0);
}

FileError DurableFile::Flush() {
  if (!ours_ || failed_) {
    return Fail("fsync", EBADF);
  }
  if (disk_.Flush(fd_) != 0) {
    return Fail("fsync", errno);
  }
  flushed_ = true;
  Reached(Step::kFlushed);
  return FileError();
}

FileError DurableFile::Commit() {
  if (!ours_ || failed_) {
    return Fail("commit", EBADF);
  }
  if (FileError error = flushed_ ? FileError() : Flush(); error.failed()) {
    return error;
  }
  if (disk_.RenameAt(AT_FDCWD, temporary_.c_str(), path_.c_str()) != 0) {
    return Fail("rename", errno);
  }
  ours_ = false;
  Reached(Step::kRenamed);
  const int directory =
      disk_.OpenAt(AT_FDCWD, directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (directory < 0) {
    return Fail("open the directory", errno);
  }
  const int flushed = disk_.Flush(directory) == 0 ? 0 : errno;
  disk_.Close(directory);
  if (flushed != 0) {
    return Fail("fsync the directory", flushed);
  }
  Reached(Step::kDirectoryFlushed);
  return FileError();
}

FileError WriteDurably(const std::string& path, const void* bytes, std::size_t size, Disk& disk) {
  DurableFile file(path, disk);
  FileError error = file.Open();
  if (!error.failed()) {
    error = file.Write(bytes, size);
  }
  return error.failed() ? error : file.Commit();
}

}  // namespace muster::checkpoint
