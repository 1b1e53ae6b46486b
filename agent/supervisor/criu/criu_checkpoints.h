#pragma once

// An attempt's checkpoints by CRIU: saves the batch script's processes, and chooses what to
// restore.
//
// The work is the program muster-criu's, one at a time (criu_run.h); the directory is `criu-JOB` in
// the job's checkpoint directory, which is its user's and is touched as him alone (as_user.h; the
// supervisor waits for that, eight seconds at most). Which node has a CRIU that works its agent
// found out, and says where it is in the environment. Thread promise: the supervisor's thread.
// Invariants: (1) `done` of a dump is called once, from the loop; (2) each generation is tried at
// most once in an attempt, unless only ids were taken; (3) the first attempt restores nothing.

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/criu/criu_images.h"
#include "agent/supervisor/criu/criu_run.h"
#include "agent/supervisor/step/step.h"
#include "agent/supervisor/user_space/as_user.h"
#include "agent/supervisor/user_space/job_user.h"
#include "checkpoint/advice/hints.h"
#include "checkpoint/advice/need.h"
#include "checkpoint/advice/progress.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class CriuCheckpoints {
 public:
  using Done = std::function<void(const absl::Status&)>;

  // `order` and `user` as StepHost has them.
  struct Place {
    EventLoop& loop;
    const Clock& clock;
    const Logger& log;
    const SupervisorOrder& order;
    const JobUser* user = nullptr;
  };
  // Makes the directory with the script in it. `criu`: what kCriuPath says; `supervisor`: our path.
  static absl::StatusOr<std::unique_ptr<CriuCheckpoints>> Open(const Place& place,
                                                               const std::string& criu,
                                                               const std::string& supervisor);
  CriuCheckpoints(const CriuCheckpoints&) = delete;
  CriuCheckpoints& operator=(const CriuCheckpoints&) = delete;
  ~CriuCheckpoints();

  [[nodiscard]] std::string Script() const { return path_ + "/script"; }

  // What to restore next; nothing: the script is started.
  std::optional<StepRestore> NextRestore();
  // It runs.
  void Restored();
  // It could not be restored, with that exit code. False: others have its ids, and it is to be
  // tried again a little later.
  bool TakeFailure(int code);
  // How often in a row ids were taken.
  [[nodiscard]] int ids_taken() const { return ids_taken_; }

  // Why a checkpoint is to be made now, as a program would decide it.
  [[nodiscard]] checkpoint::Need Due(const checkpoint::Hints& hints) const;
  // Saves the tree of `leader`; the checkpoint answers the notice of `hints`. REQUIRES: !busy().
  void Dump(pid_t leader, AfterDump after, const checkpoint::Hints& hints, Done done);
  [[nodiscard]] bool busy() const { return pid_ > 0 || done_ != nullptr; }
  // Of the dump's own process.
  [[nodiscard]] bool Owns(pid_t pid) const { return pid_ > 0 && pid == pid_; }
  void Reaped(int wait_status);
  // The script has ended by itself: nothing is to be restored, and a dump under way ends.
  void Forget();

  // What there is to tell of them, as a program would.
  [[nodiscard]] checkpoint::ProgressReport Progress() const;

 private:
  CriuCheckpoints(const Place& place, std::string criu, std::string program, std::string path);
  using Work = std::function<absl::StatusOr<Brought>(CriuImages)>;
  // Has `work` done with the images as the user.
  absl::StatusOr<Brought> WithImages(const Work& work) const;
  absl::Status StartDump(pid_t leader, AfterDump after);
  absl::Status TakeDump(int wait_status);
  void StopDump();
  void FinishDump(const absl::Status& status);
  [[nodiscard]] std::uint64_t NowMs() const;

  const Place place_;
  const std::string criu_;
  const std::string program_;
  const std::string path_;  // of the images
  checkpoint::SlotReport told_;
  std::set<std::uint64_t> tried_;  // generations, in this attempt
  std::optional<RestorableGeneration> restoring_;
  int ids_taken_ = 0;

  pid_t pid_ = -1;
  UniqueFd output_;
  Done done_;
  std::uint32_t answers_ = 0;         // the notice that the dump under way does
  std::uint32_t tried_notice_ = 0;    // for that one a dump was begun
  std::uint64_t tried_deadline_ = 0;  // for that one too
  std::uint64_t begun_ms_ = 0;        // the dump under way
  SteadyTime last_;                   // a dump ended, or work began
  std::string said_;                  // of the last dump that failed
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace muster::agent
