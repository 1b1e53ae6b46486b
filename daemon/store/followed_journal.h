#pragma once

// How far a controller's state is known to be in the journal, and by which entry.
//
// A database that was lost and restored by its standby may lack an entry that a follower had read
// before the standby had it; its successor's is then in that one's place, and this finds it. Thread
// promise: Reach and version are safe from any thread, the rest is the controller's loop's.
// Invariants: an entry is kept without secrets, which are erased from the journal later.

#include <atomic>
#include <cstdint>
#include <optional>

#include "scheduler/model/change/event.h"
#include "scheduler/model/value/ids.h"

namespace muster::daemon {

class FollowedJournal {
 public:
  [[nodiscard]] Version version() const { return Version(version_); }
  void Reach(Version version) { version_ = version.value(); }

  // The entry that the state ends with, as it was read; nothing: the journal has it no more.
  void Read(std::optional<JournalEntry> last);
  // The journal has another entry in the place of the one that the state, at `at`, ends with. False
  // where that one was not read but written: what the database acknowledged it does not lose.
  [[nodiscard]] bool IsContradictedBy(const JournalEntry& entry, Version at) const;

 private:
  std::atomic<std::uint64_t> version_ = 0;
  std::optional<JournalEntry> last_;
};

}  // namespace muster::daemon
