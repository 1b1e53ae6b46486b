#include "scheduler/simulator/cluster/checkpointed_run.h"

#include <algorithm>

#include "scheduler/base/status.h"

namespace muster::sim {

CheckpointedRun::CheckpointedRun(const JobCheckpoints& checkpoints, std::int64_t work, bool again)
    : checkpoints_(checkpoints), restart_left_(again ? checkpoints.restart : 0), work_left_(work) {
  MUSTER_CHECK(work >= 1 && checkpoints.interval >= 1);
  stage_ = restart_left_ > 0 ? Stage::kRestart : Stage::kWork;
}

std::int64_t CheckpointedRun::UntilDue() const {
  if (stage_ == Stage::kRestart) {
    return restart_left_;
  }
  const std::int64_t until_checkpoint = checkpoints_.interval - unsaved_;
  return until_checkpoint > 0 ? std::min(work_left_, until_checkpoint) : work_left_;
}

bool CheckpointedRun::WantsToWrite() const {
  return stage_ == Stage::kWork && work_left_ > 0 && unsaved_ >= checkpoints_.interval;
}

void CheckpointedRun::Advance(std::int64_t seconds) {
  switch (stage_) {
    case Stage::kRestart:
      parts_.restart += seconds;
      restart_left_ -= seconds;
      stage_ = restart_left_ == 0 ? Stage::kWork : Stage::kRestart;
      return;
    case Stage::kWork:
      unsaved_ += seconds;
      work_left_ -= seconds;
      stage_ = work_left_ == 0 ? Stage::kDone : Stage::kWork;
      return;
    case Stage::kWrite:
      parts_.checkpoints += seconds;
      return;
    case Stage::kDone:
      MUSTER_CHECK(seconds == 0);
      return;
  }
}

void CheckpointedRun::BeginWrite() {
  MUSTER_CHECK(WantsToWrite());
  stage_ = Stage::kWrite;
}

void CheckpointedRun::EndWrite() {
  MUSTER_CHECK(stage_ == Stage::kWrite);
  stage_ = Stage::kWork;
  parts_.saved += unsaved_;
  unsaved_ = 0;
}

void CheckpointedRun::AbandonWrite() {
  MUSTER_CHECK(stage_ == Stage::kWrite);
  stage_ = Stage::kWork;
}

AttemptParts CheckpointedRun::Parts() const {
  AttemptParts parts = parts_;
  (stage_ == Stage::kDone ? parts.saved : parts.lost) += unsaved_;
  return parts;
}

}  // namespace muster::sim
