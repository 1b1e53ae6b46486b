#pragma once

// What running programs tell the scheduler's side about their checkpoints, through a file: the
// other direction of hints.h.
//
// A page of slots. A process takes one for each open session, writes to it without a system call
// and leaves it when it closes; what a slot says stays until another process takes it. The
// scheduler's side reads the file and never maps it, for the programs own it and may cut it. Thread
// promise: a slot has one writer at a time; any number of processes; reading is pure. Invariants:
// (1) whatever the file holds, reading ends and gives numbers; what they are worth is the reader's
// to judge; (2) a slot of a living process is never taken; (3) counts of a slot never decrease
// while one session has it. A process that finds no slot free goes without, and the page says so.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/disk/error.h"

namespace muster::checkpoint {

inline constexpr std::size_t kProgressSlots = 256;
inline constexpr std::size_t kRefusalBytesMax = 88;

// What one session said. Times are milliseconds of the Unix epoch; 0: never.
struct SlotReport {
  std::uint32_t index = 0;
  std::uint32_t pid = 0;  // with its start, the process that has it: /proc/PID/stat, field 22
  std::uint64_t start_ticks = 0;
  std::uint64_t serial = 0;  // of the session: another one for each that took a slot
  bool closed = false;       // the session is over
  std::uint64_t opened_ms = 0;
  std::uint64_t restored_ms = 0;  // when it had come back from a checkpoint
  std::uint64_t commits = 0;
  std::uint64_t begun_ms = 0;  // of the newest
  std::uint64_t ended_ms = 0;
  std::uint64_t cost_us = 0;   // of the newest: for so long the program stood still
  std::uint64_t stall_us = 0;  // of all
  std::uint64_t bytes = 0;     // of the newest
  std::uint32_t notice = 0;    // the number of the last notice that a commit answered
  std::uint64_t beats = 0;     // the program asked whether to checkpoint, or did
  std::uint64_t failed = 0;    // checkpoints in a row, the newest among them
  friend bool operator==(const SlotReport&, const SlotReport&) = default;
};

struct ProgressReport {
  std::vector<SlotReport> slots;  // those that were ever taken
  bool crowded = false;           // some process found no slot
  std::uint64_t copies = 0;       // to the shared directory, each of one rank's shard
  std::uint64_t copy_us = 0;      // of the newest: from its commit on the node until it was there
  std::string refused;  // why the newest may not be in the shared directory, printable; "": it may
};

// Of a page's bytes, whatever they are; kForeign when they are no such page.
Result<ProgressReport> ParseProgress(const void* bytes, std::size_t size);

// The scheduler's side: makes the file, empty of slots, mode 0600. The descriptor is the caller's.
Result<int> CreateProgress(const std::string& path);
Result<ProgressReport> ReadProgress(int fd);

// One checkpoint of one process.
struct CommitReport {
  std::uint64_t begun_ms = 0;
  std::uint64_t ended_ms = 0;
  std::uint64_t cost_us = 0;
  std::uint64_t bytes = 0;
  std::uint32_t notice = 0;
};

// The helper's side, which has no slot: another of these took so long. What is no such file is left
// as it is.
void TellCopied(const std::string& path, std::uint64_t copy_us);
// Why the newest may not be there: the first kRefusalBytesMax bytes of it.
void TellRefused(const std::string& path, const std::string& why);

struct ProgressPage;
struct ProgressSlotFields;

// The program's side. One that has no slot says nothing.
class ProgressSlot {
 public:
  // Takes a slot in the file. kForeign: it is no such file; kBusy: all slots are taken.
  static Result<ProgressSlot> Take(const std::string& path);

  ProgressSlot() = default;
  ProgressSlot(ProgressSlot&& other) noexcept;
  ProgressSlot& operator=(ProgressSlot&& other) noexcept;
  ProgressSlot(const ProgressSlot&) = delete;
  ProgressSlot& operator=(const ProgressSlot&) = delete;
  // Leaves the slot, unless it is a forked child's copy of its parent's.
  ~ProgressSlot();

  bool taken() const { return fields_ != nullptr; }
  void Beat();
  void Committed(const CommitReport& commit);
  // A checkpoint that was begun is none.
  void Failed();
  // As TellRefused, and "" once one is there again.
  void Refused(const std::string& why);
  void Restored(std::uint64_t now_ms);

 private:
  ProgressPage* page_ = nullptr;
  ProgressSlotFields* fields_ = nullptr;
  std::uint32_t pid_ = 0;
};

}  // namespace muster::checkpoint
