#pragma once

// Writes the page by which the supervisor advises the attempt's programs (libmuster-checkpoint maps
// it): how often to checkpoint, when the attempt ends at the latest, and that it is to end.
//
// The interval comes from MUSTER_CHECKPOINT_INTERVAL of the submitted environment; `auto` is Daly's
// (checkpoint/advice/interval.h), for the measured cost of a checkpoint and the scheduler's mean
// time between failures. Where checkpoints are copied from the node to a shared directory, every
// k-th one is: k follows from the measured time of a copy and from the mean time between failures
// that leave nothing on a node. Until the attempt has measured, the values of earlier attempts
// hold. The programs find the page by MUSTER_CHECKPOINT_HINTS. Thread promise: the supervisor's
// thread. Invariants: what is published is whole; where the page cannot be made, nothing else
// suffers.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "checkpoint/advice/hints.h"
#include "scheduler/model/job/checkpoint_record.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

class CheckpointHints {
 public:
  // Makes the page at `path` with the interval that `environment` asks for.
  absl::Status Make(const std::string& path, const std::vector<std::string>& environment);

  // The attempt ends at `end`, unless it is ordered to end before; kNoTime: it has no limit.
  void SetEnd(Time end);
  // What one of its checkpoints costs, and how long a copy of one takes; 0: not measured yet.
  void Learn(Duration cost, Duration flush);
  // What the scheduler knows; older advice than was taken already is dropped.
  void Advise(const CheckpointAdvice& advice);
  // It was ordered to end for that cause, and is killed at `end`: a checkpoint is wanted at once.
  void Announce(EndCause cause, Time end);

  // All that the page tells the programs.
  const checkpoint::Hints& told() const { return hints_; }
  // Of the newest notice; 0: none was given.
  std::uint32_t notice() const { return hints_.notice_number; }
  // The newest.
  const CheckpointAdvice& advice() const { return advice_; }
  // The attempt may write, and others wait for its end.
  bool has_slot() const { return advice_.slot == WriteSlot::kYours; }
  // Of work between checkpoints, as advised; 0: no advice.
  Duration interval() const { return Duration(static_cast<std::int64_t>(hints_.interval_ms)); }
  // Every checkpoint whose number this divides is copied elsewhere, as advised; 0: no advice.
  std::uint32_t copy_every() const { return hints_.copy_every; }

 private:
  void Publish();
  void Recompute();

  checkpoint::HintFile file_;
  checkpoint::Hints hints_;
  CheckpointAdvice advice_;
  bool automatic_ = false;
  Duration cost_{0};   // 0: not measured yet
  Duration flush_{0};  // 0: not measured yet
  bool announced_ = false;
  bool asked_ = false;  // for a checkpoint, by what was announced
};

// Of a submitted environment: MUSTER_CHECKPOINT_INTERVAL in seconds of work, or `auto` (what
// AutomaticInterval gives while nothing is known). 0: none, or no such number.
Duration CheckpointIntervalOf(const std::vector<std::string>& environment);

// Daly's higher-order interval for a checkpoint of that cost where something fails after `mtbf`, at
// least half a minute and at most a day. Before the cost is measured that of a minute-long one, an
// hour at most; an hour where nothing is known of failures (`mtbf` 0).
Duration AutomaticInterval(Duration cost, Duration mtbf);

// k: every k-th checkpoint is copied from the node. The time between two copies is Daly's
// higher-order interval for a copy that takes `flush`, where a node's files are lost after
// `loss_mtbf`, in whole checkpoint intervals. It is at least `flush`, so that a copy ends before
// the next begins, and at most a day. 0, no advice, where one of the three is not known (0).
std::uint32_t CopyEvery(Duration interval, Duration flush, Duration loss_mtbf);

}  // namespace muster::agent
