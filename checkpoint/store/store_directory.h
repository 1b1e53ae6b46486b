#pragma once

// The directory of a Store: its entries, and what all parts of a Store do to them.
//
// Thread promise: one thread at a time an object. Invariant: nothing outside the directory is ever
// written or removed.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/durable_file.h"
#include "checkpoint/disk/error.h"
#include "checkpoint/disk/names.h"

namespace muster::checkpoint {

class StoreDirectory {
 public:
  // `path` must be there and this user's.
  static Result<StoreDirectory> Open(Disk& disk, const std::string& path);
  StoreDirectory() : file_(Disk::Real(), -1) {}

  Disk& disk() const { return *disk_; }
  const std::string& path() const { return path_; }
  int fd() const { return file_.get(); }

  // Names of what it holds.
  Result<std::vector<std::string>> Entries() const;
  // Opens the directory `name` in it, which is ours.
  Result<OpenFile> OpenEntry(const std::string& name) const;
  // Gives the entry another name, which must be free.
  Error Rename(const std::string& from, const std::string& to) const;
  // Removes the directory `name` and the files in it. Not recursive: what is a directory in it is
  // not ours.
  Error RemoveFiles(const std::string& name) const;
  // Names that were given or taken are on the disk.
  Error Flush() const;

  // `latest` in two steps: into the temporary file, all of it; or at once.
  DurableFile Latest() const { return DurableFile(path_ + "/" + kLatestName, *disk_); }
  static Error WriteLatest(std::uint64_t generation, DurableFile* latest);
  Error ReplaceLatest(std::uint64_t generation) const;

 private:
  StoreDirectory(Disk& disk, std::string path, OpenFile file)
      : disk_(&disk), path_(std::move(path)), file_(std::move(file)) {}

  Disk* disk_ = nullptr;
  std::string path_;
  OpenFile file_;
};

// "NAME: No space left on device", or none.
Error FileErrorOf(const std::string& name, const FileError& error);

}  // namespace muster::checkpoint
