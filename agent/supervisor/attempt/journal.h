#pragma once

// An attempt's journal on its node: the reports about it, in order, only ever appended to.
//
//   journal := record*      record := length (4 bytes, little-endian), wire::Report (length bytes)
//
// Written by the supervisor; by the agent only once the supervisor is known to be dead. A record is
// one write(2), so a crash can only leave a torn tail: readers stop before it, a writer that opens
// the file cuts it off. Not synced: after a reboot the agent reports the attempt as ended by that.
// Thread promise: one thread an object. Invariant: the reports are numbered 1, 2, 3, …

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// Reads a journal that grows: each call returns what was added since the last one.
class AttemptJournalReader {
 public:
  explicit AttemptJournalReader(std::string path) : path_(std::move(path)) {}
  // The whole records after the last one returned; a torn tail is left for a later call. A journal
  // that does not exist yet has none. DataLoss when a record is not a report or is out of order.
  absl::StatusOr<std::vector<Report>> ReadNew();

 private:
  std::string path_;
  std::uint64_t offset_ = 0;
  std::uint64_t index_ = 0;
};

// True when the last word of the journal at `path` about suspensions is that nothing of the attempt
// runs. False when the journal cannot be read, too: then it may run.
bool EndsFrozen(const std::string& path);

class JournalWriter {
 public:
  // Opens or makes the journal of an attempt at `path`, and cuts off a torn tail.
  static absl::StatusOr<JournalWriter> Open(const std::string& path, JobId job,
                                            AttemptNumber attempt);
  // Appends `fact` under the next number. On an error (a full disk) nothing was added, and the call
  // may be repeated.
  absl::Status Append(const Fact& fact);
  // The number of the last record; 0 when there is none.
  [[nodiscard]] std::uint64_t last_index() const { return index_; }

 private:
  JournalWriter(UniqueFd fd, JobId job, AttemptNumber attempt, std::uint64_t size,
                std::uint64_t index)
      : fd_(std::move(fd)), job_(job), attempt_(attempt), size_(size), index_(index) {}

  UniqueFd fd_;
  JobId job_;
  AttemptNumber attempt_;
  std::uint64_t size_ = 0;
  std::uint64_t index_ = 0;
};

// Tells the agent that listens on the datagram socket `socket` that the attempt `name` has news.
// Never waits; an agent that is not there finds the news when it comes back. What follows a line
// end in `name`, an ImageWanted, it passes on; without the agent that is lost, which is told.
bool NotifyAgent(const std::string& socket, const std::string& name);

}  // namespace muster::agent
