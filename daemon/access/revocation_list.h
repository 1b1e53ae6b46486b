#pragma once

// The file of revoked certificates, read again whenever it has changed.
//
// Invariant: what Now() returns is the file as it was at some moment of the call; a file that
// cannot be read is an error, never an empty list.

#include <sys/stat.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class RevocationList {
 public:
  // Empty: no certificate is ever revoked.
  explicit RevocationList(std::string path) : path_(std::move(path)) {}
  RevocationList(const RevocationList&) = delete;
  RevocationList& operator=(const RevocationList&) = delete;

  // A serial first on each line; empty while the file does not exist. The text is shared by all who
  // ask until the file changes. Never null.
  [[nodiscard]] absl::StatusOr<std::shared_ptr<const std::string>> Now() const;

 private:
  const std::string path_;
  mutable Mutex mutex_;
  mutable struct stat read_ ABSL_GUARDED_BY(mutex_) = {};  // of the file when list_ was read
  mutable std::shared_ptr<const std::string> list_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
