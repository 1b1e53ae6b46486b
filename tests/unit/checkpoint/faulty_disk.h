#pragma once

// A real disk of which one chosen system call fails, kills the process, or lies; and one that
// forgets what was not flushed.
//
// For tests. Thread promise: one thread at a time. Invariant: every other call is the real one.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/disk/disk.h"

namespace muster::checkpoint {

enum class Trouble {
  kNone,
  kKillBefore,  // SIGKILL in place of the call
  kKillAfter,   // SIGKILL when it is done
  kNoSpace,     // ENOSPC; a write puts half of its bytes first
  kIoError,     // EIO
  kTruncation,  // a write that puts half of its bytes and says that it put all
};

// Every call passes through At(), which counts it.
class FaultyDisk : public Disk {
 public:
  FaultyDisk(Trouble trouble, int at) : trouble_(trouble), at_(at) {}
  int calls() const { return calls_; }
  // From now on the call that comes after `more` others is the one in trouble.
  void FailAfter(int more) { at_ = calls_ + more; }

  int OpenAt(int directory, const char* name, int flags, mode_t mode) override {
    return Call([&] { return Disk::OpenAt(directory, name, flags, mode); });
  }
  int MakeDirectoryAt(int directory, const char* name, mode_t mode) override {
    return Call([&] { return Disk::MakeDirectoryAt(directory, name, mode); });
  }
  ssize_t Write(int fd, const void* bytes, std::size_t size) override {
    if (calls_ == at_ && (trouble_ == Trouble::kNoSpace || trouble_ == Trouble::kTruncation)) {
      ++calls_;
      const ssize_t half = Disk::Write(fd, bytes, size / 2);
      errno = ENOSPC;
      return trouble_ == Trouble::kTruncation && half >= 0 ? static_cast<ssize_t>(size) : -1;
    }
    return Call([&] { return Disk::Write(fd, bytes, size); });
  }
  ssize_t ReadAt(int fd, void* bytes, std::size_t size, off_t offset) override {
    return Call([&] { return Disk::ReadAt(fd, bytes, size, offset); });
  }
  int Truncate(int fd, off_t size) override {
    return Call([&] { return Disk::Truncate(fd, size); });
  }
  int Flush(int fd) override {
    return Call([&] { return Disk::Flush(fd); });
  }
  int Stat(int fd, struct stat* about) override {
    return Call([&] { return Disk::Stat(fd, about); });
  }
  int StatAt(int directory, const char* name, struct stat* about) override {
    return Call([&] { return Disk::StatAt(directory, name, about); });
  }
  int RenameAt(int directory, const char* from, const char* to) override {
    return Call([&] { return Disk::RenameAt(directory, from, to); });
  }
  int RenameNewAt(int directory, const char* from, const char* to) override {
    return Call([&] { return Disk::RenameNewAt(directory, from, to); });
  }
  int UnlinkAt(int directory, const char* name, int flags) override {
    return Call([&] { return Disk::UnlinkAt(directory, name, flags); });
  }
  int LockExclusively(int fd) override {
    return Call([&] { return Disk::LockExclusively(fd); });
  }
  int Close(int fd) override {
    return Call([&] { return Disk::Close(fd); });
  }
  int List(int directory, std::vector<std::string>* names) override {
    return Call([&] { return Disk::List(directory, names); });
  }

 private:
  template <class Real>
  auto Call(const Real& real) -> decltype(real()) {
    if (calls_++ != at_) {
      return real();
    }
    switch (trouble_) {
      case Trouble::kKillBefore:
        raise(SIGKILL);
        break;
      case Trouble::kKillAfter:
        (void)real();
        raise(SIGKILL);
        break;
      case Trouble::kNoSpace:
        errno = ENOSPC;
        return -1;
      case Trouble::kIoError:
        errno = EIO;
        return -1;
      case Trouble::kNone:
      case Trouble::kTruncation:  // only writes lie
        break;
    }
    return real();
  }

  Trouble trouble_;
  int at_;
  int calls_ = 0;
};

// Loses the power at a chosen call: what was written to a file since its last flush is gone, and
// what was done in a directory since its last flush is undone, the last first. (Removals stay: a
// file system may have written them at any time.)
class PowerLossDisk : public Disk {
 public:
  explicit PowerLossDisk(int at) : at_(at) {}
  int calls() const { return calls_; }

  int OpenAt(int directory, const char* name, int flags, mode_t mode) override {
    Count();
    const bool there = faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    const int fd = Disk::OpenAt(directory, name, flags, mode);
    if (fd >= 0 && !there) {
      RememberRemoval(directory, name, 0);
    }
    return fd;
  }
  int MakeDirectoryAt(int directory, const char* name, mode_t mode) override {
    Count();
    const int result = Disk::MakeDirectoryAt(directory, name, mode);
    if (result == 0) {
      RememberRemoval(directory, name, AT_REMOVEDIR);
    }
    return result;
  }
  ssize_t Write(int fd, const void* bytes, std::size_t size) override {
    Count();
    dirty_.insert(InodeOf(fd));
    open_for_writing_[InodeOf(fd)] = dup(fd);
    return Disk::Write(fd, bytes, size);
  }
  int Flush(int fd) override {
    Count();
    const int result = Disk::Flush(fd);
    dirty_.erase(InodeOf(fd));
    undo_.erase(InodeOf(fd));
    return result;
  }
  int RenameAt(int directory, const char* from, const char* to) override {
    return Rename(directory, from, to, [&] { return Disk::RenameAt(directory, from, to); });
  }
  int RenameNewAt(int directory, const char* from, const char* to) override {
    return Rename(directory, from, to, [&] { return Disk::RenameNewAt(directory, from, to); });
  }
  int UnlinkAt(int directory, const char* name, int flags) override {
    Count();
    return Disk::UnlinkAt(directory, name, flags);
  }

 private:
  struct Undo {
    int order;
    std::function<void()> act;
  };

  static ino_t InodeOf(int fd) {
    struct stat about {};
    return fstat(fd, &about) == 0 ? about.st_ino : 0;
  }
  static std::string PathOf(int directory, const char* name) {
    if (directory == AT_FDCWD) {
      return name;
    }
    char target[PATH_MAX] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(directory);
    return readlink(link.c_str(), target, sizeof target - 1) > 0 ? std::string(target) + "/" + name
                                                                 : name;
  }
  // What was made is undone in the directory that it was made in, whatever that is called by then.
  void RememberRemoval(int directory, const char* name, int flags) {
    const std::string path = PathOf(directory, name);
    const int parent = open(path.substr(0, path.rfind('/')).c_str(), O_RDONLY | O_DIRECTORY);
    const std::string leaf = path.substr(path.rfind('/') + 1);
    Remember(path, [parent, leaf, flags] { unlinkat(parent, leaf.c_str(), flags); });
  }
  void Remember(const std::string& path, std::function<void()> act) {
    struct stat parent {};
    const std::string folder = path.substr(0, path.rfind('/'));
    if (stat(folder.c_str(), &parent) == 0) {
      undo_[parent.st_ino].push_back({calls_, std::move(act)});
    }
  }
  template <class Real>
  int Rename(int directory, const char* from, const char* to, const Real& real) {
    Count();
    const std::string source = PathOf(directory, from);
    const std::string target = PathOf(directory, to);
    const std::string kept = target + ".was";
    const bool replaced = link(target.c_str(), kept.c_str()) == 0;  // fails for directories: none
    const int result = real();
    if (result == 0) {
      Remember(target, [source, target, kept, replaced] {
        rename(target.c_str(), source.c_str());
        if (replaced) {
          rename(kept.c_str(), target.c_str());
        }
      });
    }
    if (replaced) {
      leftovers_.push_back(kept);
    }
    return result;
  }
  void Count() {
    if (calls_++ == at_) {
      LosePower();
    }
  }
  void LosePower() {
    for (const ino_t inode : dirty_) {
      (void)!ftruncate(open_for_writing_[inode], 0);
    }
    std::map<int, std::function<void()>, std::greater<>> ordered;
    for (const auto& [folder, undos] : undo_) {
      for (const Undo& undo : undos) {
        ordered[undo.order] = undo.act;
      }
    }
    for (const auto& [order, act] : ordered) {
      act();
    }
    for (const std::string& path : leftovers_) {
      unlink(path.c_str());
    }
    raise(SIGKILL);
  }

  int at_;
  int calls_ = 0;
  std::set<ino_t> dirty_;
  std::map<ino_t, int> open_for_writing_;
  std::map<ino_t, std::vector<Undo>> undo_;  // by directory
  std::vector<std::string> leftovers_;
};

}  // namespace muster::checkpoint
