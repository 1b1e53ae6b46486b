#pragma once

// A journal read from outside, as a story: every entry and every cycle, in order.
//
// For replays: needs no lock, writes nothing, and sees what was committed when it was opened, be a
// controller at work there or not. Thread promise: belongs to one thread. Invariants: a cycle comes
// after the entry of its version and before the next, and those of the state that the journal
// begins with come first.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/change/state_image.h"
#include "scheduler/model/plan/cycle_record.h"

namespace muster::daemon {

class JournalReader {
 public:
  // Of DIR (or DIR/controller), which a controller has made, of a "postgresql://…", or of a segment
  // of an archive. `archive`: the directory of the store's archive, if not DIR/archive. An error is
  // one line: where, what is wrong, the mend.
  static absl::StatusOr<std::unique_ptr<JournalReader>> Open(const std::string& place,
                                                             std::string archive = "");
  ~JournalReader();

  // The state that the journal begins with: an empty one, or that of the archive.
  absl::StatusOr<StateImage> ReadBeginning();

  // Calls both for all there is, until one returns false.
  absl::Status Read(const std::function<bool(const JournalEntry&)>& visit_entry,
                    const std::function<bool(const CycleRecord&)>& visit_cycle);

  // The state that the rows beside the journal say, at last(); nothing for a segment.
  absl::StatusOr<std::optional<StateImage>> ReadImage();

  // The versions of the first entry and of the last.
  [[nodiscard]] Version first() const { return first_; }
  [[nodiscard]] Version last() const { return last_; }

 private:
  JournalReader(std::unique_ptr<Database> entries, std::unique_ptr<Database> cycles);
  static absl::StatusOr<std::unique_ptr<JournalReader>> OpenFile(const std::string& path);
  static absl::StatusOr<std::unique_ptr<JournalReader>> OpenSegment(const std::string& path);
  absl::StatusOr<std::vector<CycleRecord>> ReadCycles(std::int64_t* after);
  absl::StatusOr<std::shared_ptr<const SchedulerConfig>> Settings(std::uint64_t hash);

  const std::unique_ptr<Database> entries_;
  const std::unique_ptr<Database> cycles_;  // another connection: two readings go on at once
  bool has_cycles_ = true;                  // false: written before they were kept
  std::string archive_;
  std::string unpacked_;  // a segment's file, which goes with us; empty: a store's
  Version first_;
  Version last_;
  std::uint64_t settings_hash_ = 0;
  std::shared_ptr<const SchedulerConfig> settings_;  // of that hash
};

}  // namespace muster::daemon
