#pragma once

// The system calls that a checkpoint makes, in one place, so that a test can let each of them fail.
//
// Disk::Real() passes them on as they are; a test derives from it. Each answers as the call of the
// same name does: -1 and errno on failure. Thread promise: as the system calls. Invariants: nothing
// under checkpoint/ writes, flushes, renames or removes but through a Disk.

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace muster::checkpoint {

// Whatever a checkpoint makes is its owner's alone.
inline constexpr mode_t kPrivateFile = 0600;
inline constexpr mode_t kPrivateDirectory = 0700;

class Disk {
 public:
  Disk() = default;
  virtual ~Disk() = default;
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  virtual int OpenAt(int directory, const char* name, int flags, mode_t mode);
  virtual int MakeDirectoryAt(int directory, const char* name, mode_t mode);
  virtual ssize_t Write(int fd, const void* bytes, std::size_t size);
  virtual ssize_t ReadAt(int fd, void* bytes, std::size_t size, off_t offset);
  virtual int Truncate(int fd, off_t size);
  virtual int Flush(int fd);  // fsync
  // Asks the kernel to begin writing what lies there to the disk: advice, for Flush to wait less.
  virtual void BeginFlush(int fd, off_t offset, off_t size);
  virtual int Stat(int fd, struct stat* about);
  virtual int StatAt(int directory, const char* name, struct stat* about);  // of a link itself
  virtual int RenameAt(int directory, const char* from, const char* to);
  // As RenameAt, but refuses (EEXIST) when `to` is there.
  virtual int RenameNewAt(int directory, const char* from, const char* to);
  virtual int UnlinkAt(int directory, const char* name, int flags);
  virtual int LockExclusively(int fd);  // flock, without waiting
  virtual int Close(int fd);
  // The names in a directory but "." and "..", sorted.
  virtual int List(int directory, std::vector<std::string>* names);

  static Disk& Real();
};

// Closes what it holds.
class OpenFile {
 public:
  OpenFile(Disk& disk, int fd) : disk_(&disk), fd_(fd) {}
  OpenFile(OpenFile&& other) noexcept : disk_(other.disk_), fd_(other.fd_) { other.fd_ = -1; }
  OpenFile& operator=(OpenFile&& other) noexcept;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  // Closes now; -1 and errno when that fails, as a late write error may.
  int Close();
  // The descriptor, which the caller closes.
  int Release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  Disk* disk_;
  int fd_;
};

}  // namespace muster::checkpoint
