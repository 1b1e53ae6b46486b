#pragma once

// What the supervisor tells the attempt's programs about checkpoints, through the page that
// libmuster-checkpoint maps: how often, when the attempt ends at the latest, and that it is to end.
//
// The interval comes from MUSTER_CHECKPOINT_INTERVAL of the submitted environment. The programs
// find the page by MUSTER_CHECKPOINT_HINTS. Thread promise: the supervisor's thread. Invariants:
// what is published is whole; where the page cannot be made, nothing else suffers.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "checkpoint/hints.h"
#include "scheduler/model/checkpoint_record.h"
#include "scheduler/model/exit_status.h"
#include "scheduler/model/time.h"

namespace muster {

class CheckpointHints {
 public:
  // Makes the page at `path` with the interval that `environment` asks for.
  absl::Status Make(const std::string& path, const std::vector<std::string>& environment);

  // The attempt ends at `end`, unless it is told to end before.
  void SetEnd(Time end);
  // What the scheduler knows; older advice than was taken already is dropped.
  void Advise(const CheckpointAdvice& advice);
  // It is told to end for that cause, and killed at `end`: a checkpoint is wanted at once.
  void Announce(EndCause cause, Time end);

 private:
  void Publish();

  checkpoint::HintFile file_;
  checkpoint::Hints hints_;
  CheckpointAdvice advice_;
  bool announced_ = false;
};

// Of a submitted environment: MUSTER_CHECKPOINT_INTERVAL in seconds of work, or `auto` (an hour: as
// yet nothing tells the supervisor what a checkpoint costs and how often nodes fail). 0: none, or
// no such number.
Duration CheckpointIntervalOf(const std::vector<std::string>& environment);

}  // namespace muster
