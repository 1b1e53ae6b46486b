#pragma once

// A job's saved processes: a directory of generations, each what one dump of CRIU wrote.
//
// In it: `N`, a whole generation; `N.failed`, one that could not be restored, set aside; `.N`, one
// that is being written; `latest`, the number of the newest; `script`, the job's batch script at a
// name that stays the same; `failed.log`, what CRIU said of the last dump that failed. A generation
// holds CRIU's images, its logs and `leader`, the process id of the script. Thread promise: pure
// but for the file system; one writer. Invariants: (1) `N` was flushed before it got its name; (2)
// until it has, the generations before it are untouched; (3) what is opened is a directory of the
// user that was asked for, writable by no other user, reached through no link.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// The result of a dump.
struct SavedGeneration {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
};

struct RestorableGeneration {
  std::uint64_t number = 0;
  bool failed = false;  // it was set aside
  pid_t leader = 0;
  // The name of its directory.
  [[nodiscard]] std::string Name() const;
};

class CriuImages {
 public:
  static constexpr std::size_t kKept = 2;

  // Makes the directory and those above it when they are missing.
  static absl::StatusOr<CriuImages> Make(const std::string& path, uid_t owner);
  // NotFound when there is none.
  static absl::StatusOr<CriuImages> Open(const std::string& path, uid_t owner);

  const std::string& path() const { return path_; }
  [[nodiscard]] std::string Script() const { return path_ + "/script"; }
  absl::Status WriteScript(const std::string& text) const;

  // The order in which to try them: whole ones, newest first, then those that failed before.
  [[nodiscard]] std::vector<RestorableGeneration> Restorable() const;
  // Its directory, checked with all that lies in it.
  absl::StatusOr<UniqueFd> OpenGeneration(const RestorableGeneration& generation) const;
  // Those of its processes' ids that other processes, or groups of them, have now.
  static std::vector<pid_t> TakenIds(int generation);
  void SetAside(const RestorableGeneration& generation) const;

  // The directory for the next dump, empty. What a killed one left goes.
  absl::StatusOr<UniqueFd> BeginNext();
  // Makes it a generation; older ones than the newest `keep` go.
  absl::StatusOr<SavedGeneration> CommitNext(int next, pid_t leader, std::size_t keep = kKept);
  // What stays beside it: of each its bytes.
  [[nodiscard]] std::vector<std::uint64_t> SizesBesideNext() const;
  // It failed: its log stays.
  void DropNext(int next, const std::string& log);

  // All generations go.
  void RemoveGenerations() const;
  // All of it goes.
  void Remove() const;

 private:
  CriuImages(std::string path, uid_t owner, UniqueFd directory)
      : path_(std::move(path)), owner_(owner), directory_(std::move(directory)) {}
  [[nodiscard]] std::string NextName() const;

  std::string path_;
  uid_t owner_;
  UniqueFd directory_;
  std::uint64_t next_ = 0;
};

// What lies in a directory but "." and "..", sorted; nothing when it cannot be read.
std::vector<std::string> NamesIn(int directory);

// The bytes of the files in it.
std::uint64_t SizeOf(int directory);

// What CRIU says went wrong: the first error in the log `name`, without where in its source; empty
// when there is none.
std::string ReasonIn(int directory, const std::string& name);

}  // namespace muster::agent
