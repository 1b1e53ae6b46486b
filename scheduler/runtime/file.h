#pragma once

// Files that must survive a crash, and the directory they live in.
//
// WriteFileAtomically leaves either the old content or the new one, never a mixture: temporary
// file, write all, fsync, rename, fsync of the directory. Every error names the path and what the
// kernel said. Thread promise: the functions are safe from any thread; two writers of one path are
// ordered by rename.

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {

// No file that we read whole is larger; a larger one is a mistake of the caller's path.
inline constexpr size_t kReadFileBytesMax = size_t{64} << 20;

// The whole of `path`, /proc files included. NotFound when it is absent, OutOfRange when it exceeds
// `bytes_max`.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t bytes_max = kReadFileBytesMax);

// Makes `path` hold exactly `content`, durably, with mode `mode`; on an error the old file stands
// untouched.
absl::Status WriteFileAtomically(const std::string& path, std::string_view content,
                                 mode_t mode = 0600);

// Makes `path` (and missing parents) durably with mode 0700 when absent. Refuses what is not a
// directory, is a symbolic link, is owned by another user, or is writable by group or world.
absl::Status EnsurePrivateDirectory(const std::string& path);

// An exclusive lock on a file, held while the object lives; the kernel frees it when the process
// dies. It is an open-file-description lock: a child that inherits the descriptor shares it, so it
// is close-on-exec.
class LockFile {
 public:
  // Takes the lock without waiting and writes our pid into the file. FailedPrecondition names the
  // holder.
  static absl::StatusOr<LockFile> Take(const std::string& path);

 private:
  explicit LockFile(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace muster
