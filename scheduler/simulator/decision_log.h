#pragma once

// The decisions of a simulation in a file, so that one that was stopped need not make them again.
//
// A simulation that is given a log asks it at each cycle: Next() gives the decision that an earlier
// run of the same simulation made, and once there are no more the scheduler decides and Add() keeps
// it. What happens between decisions (arrivals, ends, rows) follows from them and is gone through
// again, so results are those of a run that was never stopped. Between instants, when WantsState()
// says so, AddState() ends a block with what the scheduler itself remembers from cycle to cycle;
// blocks are what a killed run leaves: a block that is not whole counts for nothing.
//
// The file: "muster decisions 1\n"; what is simulated, one line; then blocks, each its content's
// length (8 bytes, little-endian), its checksum (FNV-1a, 8 bytes) and the content in one zstd
// frame: "sorted" as a number, the decisions, the state (scheduler/model/value/value_bytes.h).
// Thread promise: one thread; one process at a time has the file (it is locked). Invariants: what
// Next() gives is what was added, in order; the file's whole blocks stay as they are but for
// Restart().

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::sim {

class DecisionLog {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20U;

  // A new one. An error where the file is there already. `what` says what is simulated: one line.
  // After that many bytes of decisions it wants a state.
  static absl::StatusOr<std::unique_ptr<DecisionLog>> Create(const std::string& path,
                                                             const std::string& what,
                                                             std::size_t block_bytes = kBlockBytes);
  // Goes on with one. An error where it is of something else.
  static absl::StatusOr<std::unique_ptr<DecisionLog>> Resume(const std::string& path,
                                                             const std::string& what);

  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;
  ~DecisionLog();

  // Whether the run that is known read the trace in order of submission, which it found unsorted.
  [[nodiscard]] bool sorted() const { return sorted_; }
  // The simulation begins again; a way of reading that is not the known run's forgets that one.
  absl::Status Begin(bool sorted);

  // Whether there are decisions that were made before.
  [[nodiscard]] bool knows_more() const { return next_ < known_.size() || more_blocks_; }
  // The next of them. REQUIRES: knows_more().
  absl::StatusOr<std::string> Next();
  // What the scheduler remembered after the last known decision; "" where none is known.
  [[nodiscard]] const std::string& state() const { return state_; }

  // Keeps one. REQUIRES: !knows_more().
  void Add(std::string decision);
  // Whether enough was added for a block.
  [[nodiscard]] bool WantsState() const { return added_bytes_ >= block_bytes_; }
  // Ends a block and writes it; nothing to do where nothing was added.
  absl::Status AddState(const std::string& state);

  // How many decisions of the earlier run were used.
  [[nodiscard]] std::uint64_t used() const { return used_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  DecisionLog(std::string path, int file) : path_(std::move(path)), file_(file) {}

  absl::Status WriteHeader(const std::string& what);
  absl::Status ReadHeader(const std::string& what);
  // Finds where the whole blocks end, and drops what follows them.
  absl::Status DropTornBlock();
  absl::StatusOr<bool> ReadBlock();
  absl::Status Forget();

  std::string path_;
  int file_;
  std::size_t block_bytes_ = kBlockBytes;
  std::uint64_t first_block_ = 0;  // offsets in the file
  std::uint64_t read_ = 0;
  std::uint64_t end_ = 0;
  std::vector<std::string> known_;  // of the block that is read
  std::size_t next_ = 0;
  bool more_blocks_ = false;
  bool sorted_ = false;
  std::string state_;
  std::vector<std::string> added_;
  std::size_t added_bytes_ = 0;
  std::uint64_t used_ = 0;
};

}  // namespace muster::sim
