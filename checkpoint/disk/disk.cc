#include "checkpoint/disk/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace muster::checkpoint {

int Disk::OpenAt(int directory, const char* name, int flags, mode_t mode) {
  return openat(directory, name, flags, mode);
}

int Disk::MakeDirectoryAt(int directory, const char* name, mode_t mode) {
  return mkdirat(directory, name, mode);
}

ssize_t Disk::Write(int fd, const void* bytes, std::size_t size) {
  return write(fd, bytes, size);
}

ssize_t Disk::ReadAt(int fd, void* bytes, std::size_t size, off_t offset) {
  return pread(fd, bytes, size, offset);
}

int Disk::Truncate(int fd, off_t size) {
  return ftruncate(fd, size);
}

int Disk::Flush(int fd) {
  return fsync(fd);
}

void Disk::BeginFlush(int fd, off_t offset, off_t size) {
  (void)sync_file_range(fd, offset, size, SYNC_FILE_RANGE_WRITE);
}

int Disk::Stat(int fd, struct stat* about) {
  return fstat(fd, about);
}

int Disk::StatAt(int directory, const char* name, struct stat* about) {
  return fstatat(directory, name, about, AT_SYMLINK_NOFOLLOW);
}

int Disk::RenameAt(int directory, const char* from, const char* to) {
  return renameat(directory, from, directory, to);
}

int Disk::RenameNewAt(int directory, const char* from, const char* to) {
  const int result = renameat2(directory, from, directory, to, RENAME_NOREPLACE);
  if (result == 0 || errno != EINVAL) {
    return result;
  }
  // A file system that cannot refuse: a directory is never renamed over one that holds files.
  return renameat(directory, from, directory, to);
}

int Disk::UnlinkAt(int directory, const char* name, int flags) {
  return unlinkat(directory, name, flags);
}

int Disk::LockExclusively(int fd) {
  return flock(fd, LOCK_EX | LOCK_NB);
}

int Disk::Close(int fd) {
  return close(fd);
}

int Disk::List(int directory, std::vector<std::string>* names) {
  names->clear();
  // An open of its own: the caller's place in the directory stays where it is.
  const int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = fd < 0 ? nullptr : fdopendir(fd);
  if (stream == nullptr) {
    const int error = errno;
    if (fd >= 0) {
      close(fd);
    }
    errno = error;
    return -1;
  }
  errno = 0;
  // The stream is this function's own.
  while (const dirent* entry = readdir(stream)) {  // NOLINT(concurrency-mt-unsafe)
    const std::string name = entry->d_name;
    if (name != "." && name != "..") {
      names->push_back(name);
    }
  }
  const int error = errno;
  closedir(stream);
  std::sort(names->begin(), names->end());
  errno = error;
  return error == 0 ? 0 : -1;
}

Disk& Disk::Real() {
  static Disk disk;  // it has no state
  return disk;
}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(disk_, other.disk_);
  std::swap(fd_, other.fd_);
  return *this;
}

OpenFile::~OpenFile() {
  if (fd_ >= 0) {
    disk_->Close(fd_);
  }
}

int OpenFile::Close() {
  const int fd = fd_;
  fd_ = -1;
  return disk_->Close(fd);
}

}  // namespace muster::checkpoint
