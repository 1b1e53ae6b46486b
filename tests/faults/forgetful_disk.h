#pragma once

// The content of a file system that knows what a disk would still hold after the power failed.
//
// Invariants, the strict reading of POSIX: fsync of a file makes its bytes, size, mode and owner
// durable, and not its name; fsync of a directory makes the names in it durable, and not its own
// name above it. A rename is one change, never half of it, and changes of one name keep their
// order. Whatever else was changed since then may be durable or not: each name, each file's size,
// and each piece of 512 bytes or of a page by itself, in any of the versions that it had. Functions
// return 0 or a negative errno. One thread at a time.

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct DiskNode;
using DiskNodePtr = std::shared_ptr<DiskNode>;

struct DiskAttributes {
  mode_t mode = 0;  // with the kind of file
  uid_t uid = 0;
  gid_t gid = 0;
  timespec accessed = {};
  timespec modified = {};
};

// Bytes at `offset`, and how long the file was afterwards.
struct DiskWrite {
  std::uint64_t offset = 0;
  std::string bytes;
  std::uint64_t size_after = 0;
};

// A file of any kind, as it is now and as it is durable.
struct DiskNode {
  std::uint64_t number = 0;
  nlink_t links = 0;
  DiskAttributes attributes;
  DiskAttributes durable_attributes;
  std::string data;  // of a symbolic link its target
  std::string durable_data;
  std::vector<DiskWrite> unsynced;  // what leads from durable_data to data
  std::map<std::string, DiskNodePtr> entries;
  std::map<std::string, DiskNodePtr> durable_entries;

  [[nodiscard]] bool IsDirectory() const { return S_ISDIR(attributes.mode); }
};

// What a cut of the power took.
struct DiskLoss {
  std::uint64_t names = 0;   // changes of names that were not durable
  std::uint64_t pieces = 0;  // pieces of files whose newest version was not
};

class ForgetfulDisk {
 public:
  ForgetfulDisk();

  // Null where nothing is. `path` begins with a slash.
  [[nodiscard]] DiskNodePtr Find(std::string_view path) const;

  // Makes a file of the kind that the mode says; `target` is a symbolic link's.
  int Make(std::string_view path, const DiskAttributes& attributes, std::string_view target,
           DiskNodePtr* made = nullptr);
  int Link(std::string_view from, std::string_view to);
  int Unlink(std::string_view path);
  int RemoveDirectory(std::string_view path);
  int Rename(std::string_view from, std::string_view to, bool may_replace);

  static void Write(DiskNode& node, std::uint64_t offset, std::string_view bytes);
  static void Truncate(DiskNode& node, std::uint64_t size);

  // fsync and fdatasync.
  void Sync(DiskNode& node);

  // The power fails: from now on the disk holds what is durable, and what `seed` draws of the rest.
  DiskLoss Lose(std::uint64_t seed);

 private:
  using Place = std::pair<DiskNodePtr, std::string>;  // a directory and a name in it

  // What a name stands for from now on; nothing where `after` is null.
  struct NameChange {
    DiskNodePtr directory;
    std::string name;
    DiskNodePtr after;
  };
  // Changes that are durable together or not at all.
  using NameChanges = std::vector<NameChange>;

  // The directory that `path` lies in and its last name there; null where there is no directory.
  [[nodiscard]] Place PlaceOf(std::string_view path) const;
  void Change(NameChanges changes);
  void SyncNames(const DiskNode& directory);

  DiskNodePtr root_;
  std::uint64_t made_ = 0;
  std::list<NameChanges> unsynced_;
};

}  // namespace muster
