#pragma once

// What the attempt's programs here say of their checkpoints, merged into one record.
//
// They write it to a page (checkpoint/advice/progress.h) that is theirs: nothing in it is believed
// further than it is possible. All sessions that are open make the checkpoint together, as the
// ranks of a program do: it counts, and its work is safe, once each of them has committed it, and a
// notice is answered once each of them has. A session whose process died is over, as one that
// closed. Thread promise: the supervisor's thread. Invariants: (1) the record's counts never
// decrease; (2) its times lie between the attempt's start and the last look, the time stood still
// within what has passed.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/supervisor/checkpoint/safe_times.h"
#include "agent/supervisor/user_space/job_user.h"
#include "checkpoint/advice/progress.h"
#include "scheduler/model/job/checkpoint_record.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class CheckpointWatch {
 public:
  // Whether the process that has the slot still runs.
  using IsLiving = std::function<bool(const checkpoint::SlotReport&)>;

  // Makes the page at `path`, the job's user's own; `user` is null where the job runs as we do.
  absl::Status Make(const std::string& path, const JobUser* user, Time started);

  // Reads the page. `notice` is the number of the newest notice that the programs were given.
  void Look(std::uint32_t notice, Time now);
  // The same with a report at hand.
  void Take(const checkpoint::ProgressReport& report, const IsLiving& living, std::uint32_t notice,
            Time now);

  // Of programs without the library: from being asked for a checkpoint until it was safe.
  void TakeSafeTime(Duration took);

  const CheckpointRecord& record() const { return record_; }
  // Some program has had a session open.
  bool seen() const { return !seen_.empty(); }
  // Signs of life of all sessions: how often they asked for a checkpoint, or made one.
  std::uint64_t beats() const { return beats_; }
  // At the last look sessions were open, all processes had a slot, and all answered the notice.
  bool Answered(std::uint32_t notice) const;

 private:
  using Slots = std::vector<const checkpoint::SlotReport*>;
  // What was counted of a session so far.
  struct Counted {
    std::uint64_t serial = 0;
    std::uint64_t commits = 0;
    std::uint64_t stall_us = 0;
    std::uint64_t beats = 0;
  };
  void TakeCommits(const Slots& sessions, Time now);
  void TakeStall(const Slots& sessions, Time now);
  void TakeCopies(const checkpoint::ProgressReport& report, Time now);
  void TakeRestart(const checkpoint::SlotReport& slot, Time now);
  Time Within(std::uint64_t unix_ms, Time now) const;

  UniqueFd page_;
  Time started_ = kNoTime;
  Time looked_ = kNoTime;
  CheckpointRecord record_;
  SafeTimes safe_times_;                   // from a checkpoint's begin to its copy elsewhere
  std::map<std::uint32_t, Counted> seen_;  // by slot
  std::uint64_t beats_ = 0;
  std::uint64_t restored_ms_ = 0;  // the first restart from a checkpoint
  std::uint32_t answered_ = 0;     // by all open sessions, at the last look
  std::uint64_t copies_ = 0;
  bool crowded_ = false;
};

}  // namespace muster::agent
