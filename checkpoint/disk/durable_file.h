#pragma once

// A file that holds its old content or its new one, whole, whatever happens in between.
//
// A checkpoint is written under a temporary name beside the file, flushed, renamed over it, and the
// directory flushed. Thread promise: safe from any thread for different paths; two writers of one
// path may refuse one another. Invariants: (1) until Commit returns well the old content stands, or
// the new one whole; (2) after it returned well the new one survives a loss of power; (3) an object
// that goes without Commit leaves no file of its own; a process killed before leaves one temporary
// file at most, which the next writer replaces.

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "checkpoint/disk/disk.h"

namespace muster::checkpoint {

// What went wrong: the step ("write", "fsync", …; empty when nothing did) and the kernel's errno.
struct FileError {
  const char* step = "";
  int error_number = 0;
  bool failed() const { return error_number != 0; }
  // "write: No space left on device"
  std::string Text() const;
};

class DurableFile {
 public:
  // Where a write stands; a test stops the process there.
  enum class Step { kOpened, kWritten, kFlushed, kRenamed, kDirectoryFlushed };

  // Nothing is opened yet. The directory of `path` must exist.
  explicit DurableFile(std::string path, Disk& disk = Disk::Real());
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  // Opens the temporary file, private to the user.
  FileError Open();
  // Appends. REQUIRES: Open went well. After an error only the destructor is of use.
  FileError Write(const void* bytes, std::size_t size);
  // Asks the disk to begin with what was written, and waits until it is there: so that a caller
  // with other files to flush has these flushed with them. Commit flushes what was not.
  void BeginFlush();
  FileError Flush();
  // Makes what was written the file's content. REQUIRES: Open went well; called once.
  FileError Commit();

  // Called when a step is done.
  void OnStep(void (*watch)(Step step)) { watch_ = watch; }

 private:
  void Reached(Step step) const;
  FileError Fail(const char* step, int error_number);

  Disk& disk_;
  const std::string path_;
  const std::string temporary_;
  const std::string directory_;
  int fd_ = -1;
  bool ours_ = false;  // the temporary file is there, and ours
  bool failed_ = false;
  bool flushed_ = false;  // all that was written
  void (*watch_)(Step) = nullptr;
};

// All of it in one call.
FileError WriteDurably(const std::string& path, const void* bytes, std::size_t size,
                       Disk& disk = Disk::Real());

}  // namespace muster::checkpoint
