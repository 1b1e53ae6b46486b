#pragma once

// When a session's next checkpoint is due, and what the scheduler learns of those that were made.
//
// Measures checkpoints, asks need.h with the scheduler's hints and tells the progress page. Thread
// promise: one thread at a time. Invariants: Ask makes no system call but for the clocks; a
// checkpoint that begins after a notice answers it, whether or not the program asked.

#include <cstdint>
#include <string>

#include "checkpoint/advice/hints.h"
#include "checkpoint/advice/need.h"
#include "checkpoint/advice/progress.h"
#include "checkpoint/disk/error.h"

namespace muster::checkpoint {

class Cadence {
 public:
  // The first interval begins. `together`: the ranks of a group go by what rank 0 was told.
  Cadence(double interval_s, bool together, HintFile hints, ProgressSlot progress);

  // --- A checkpoint, in this order ---
  void Begin();
  void Wrote(std::uint64_t bytes) { written_bytes_ = bytes; }
  // It is committed.
  void End();
  // This rank has done all that belongs to it: the progress page says so, unless it failed. The
  // next interval begins: what a copy takes to start is no time in which the program computed.
  void Report(const Error& error);

  // The checkpoint that began is none, or may not be worth what it seems. Says so once.
  void Fail();
  // Why it may not be on the shared level; "": it is there.
  void Refused(const std::string& why) { progress_.Refused(why); }

  // Whether a checkpoint that was committed on the node, and is the `since_copy`-th of those after
  // the newest that is copied, is to be copied to the shared directory. Between End and Report.
  bool WantsCopy(std::uint64_t since_copy);

  // The program came back from a checkpoint.
  void Restored();

  // Two clocks and the mapped pages.
  Need Ask();
  // Of a group: the notice that rank 0 goes by, so that all ranks answer the same one.
  std::uint32_t asked_notice() const { return asked_notice_; }
  void AskedFor(std::uint32_t notice);

 private:
  bool together_;
  HintFile hints_;
  ProgressSlot progress_;
  double began_s_ = 0;
  double last_end_s_;
  double goes_on_s_;  // since when the program computes
  double cost_sum_s_ = 0;
  std::uint64_t checkpoints_ = 0;
  std::uint64_t written_bytes_ = 0;
  Pace pace_;
  std::uint32_t asked_notice_ = 0;
  Need asked_ = Need::kNone;
  bool failed_ = false;    // this checkpoint
  bool answered_ = false;  // the last checkpoint was one for a notice or the deadline
};

}  // namespace muster::checkpoint
