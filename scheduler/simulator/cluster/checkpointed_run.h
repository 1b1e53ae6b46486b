#pragma once

// An attempt of a job whose checkpoints take as long as the file system lets them: stage by stage.
//
// First the restart (but for the job's first attempt), then work; after each interval of work a
// checkpoint is due, and none at the end. One that is due begins when the caller says so: until
// then the work goes on. What was worked before the beginning of a checkpoint is saved once that
// is over. Where each checkpoint begins when it is due and takes the job's cost, the parts are
// those of PartsOf (checkpointed_work.h). Whole seconds. Thread promise: a value. Invariants: the
// parts add up to the time that passed.

#include <cstdint>

#include "scheduler/simulator/cluster/checkpointed_work.h"

namespace muster::sim {

class CheckpointedRun {
 public:
  enum class Stage : std::uint8_t { kRestart, kWork, kWrite, kDone };

  CheckpointedRun() = default;
  // REQUIRES: work >= 1, an interval.
  CheckpointedRun(const JobCheckpoints& checkpoints, std::int64_t work, bool again);

  [[nodiscard]] Stage stage() const { return stage_; }
  // How long until something is due if the run goes on as it does: the end of the restart, a
  // checkpoint, the end of the work; of kWork past its checkpoint's time that end. REQUIRES: it
  // restarts or works.
  [[nodiscard]] std::int64_t UntilDue() const;
  // Whether a checkpoint is due that has not begun.
  [[nodiscard]] bool WantsToWrite() const;
  // Work that would be lost by now.
  [[nodiscard]] std::int64_t at_risk() const { return unsaved_; }

  // So much time goes by. REQUIRES: no more than UntilDue() but in kWrite.
  void Advance(std::int64_t seconds);
  // The checkpoint begins. REQUIRES: WantsToWrite().
  void BeginWrite();
  // It is whole. REQUIRES: kWrite.
  void EndWrite();
  // It never will be, and the work goes on; it is due again at once. REQUIRES: kWrite.
  void AbandonWrite();

  // What became of the time that has passed: when the work is done, all of it is saved.
  [[nodiscard]] AttemptParts Parts() const;

 private:
  JobCheckpoints checkpoints_;
  Stage stage_ = Stage::kDone;
  std::int64_t restart_left_ = 0;
  std::int64_t work_left_ = 0;
  std::int64_t unsaved_ = 0;
  AttemptParts parts_;
};

}  // namespace muster::sim
