// The side of Supervisor that has CRIU save and restore the batch script's processes.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/supervisor.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

constexpr Duration kTryAgain{1000};
constexpr int kTries = 30;

}  // namespace

absl::Status Supervisor::PrepareCriu() {
  if (order_.launch.spec.checkpoint_with != CheckpointMeans::kCriu) {
    return absl::OkStatus();
  }
  const char* const criu = getenv(kCriuPath);  // NOLINT(concurrency-mt-unsafe): one thread
  std::error_code unknown;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
  const CriuCheckpoints::Place place{loop_, clock_, log_, order_,
                                     user_.has_value() ? &*user_ : nullptr};
  ASSIGN_OR_RETURN(criu_, CriuCheckpoints::Open(place, criu == nullptr ? "" : criu, self));
  checkpoints_.ReadFrom([this] { return criu_->Progress(); });
  return absl::OkStatus();
}

// True: the batch step, which could not be restored, is begun in another way.
bool Supervisor::BeginsOtherwise(const Step& step) {
  if (criu_ == nullptr || step.restore_failure() == 0 || end_.ending()) {
    return false;
  }
  if (criu_->TakeFailure(step.restore_failure())) {
    BeginAgain();
    return true;
  }
  if (criu_->ids_taken() >= kTries) {
    return false;
  }
  After(kTryAgain, [this] { BeginAgain(); });
  return true;
}

void Supervisor::BeginAgain() {
  if (end_.ending()) {
    CheckFinished();
  } else if (suspension_.ordered()) {
    After(kTryAgain, [this] { BeginAgain(); });
  } else {
    BeginBatch();
  }
}

// The batch step has ended, and with it the job.
void Supervisor::EndCriu(const Step& step) {
  if (criu_ == nullptr || end_.forced()) {
    return;
  }
  if (step.restore_failure() != 0) {
    end_.Explain(absl::StrCat(
        order_.node_name,
        ": its checkpoint cannot be restored while other processes have the ids of its own; "
        "requeue it to try again"));
  } else if (step.launch_error().empty() && end_.status().signal == 0) {
    criu_->Forget();
  }
}

// The batch script's process, while it can be saved.
pid_t Supervisor::SavableLeader() const {
  const auto found = steps_.find(StepId());
  return criu_ == nullptr || found == steps_.end() || steps_.size() > 1 ? 0
                                                                        : found->second->Leader();
}

void Supervisor::DumpWhenDue() {
  const pid_t leader = SavableLeader();
  if (leader != 0 && !suspension_.ordered() && !end_.ending() &&
      criu_->Due(checkpoints_.told()) != checkpoint::Need::kNone) {
    criu_->Dump(leader, AfterDump::kRun, checkpoints_.told(), [this](const absl::Status&) {
      checkpoints_.Report(false);
      EndAfterDump();
    });
  }
}

// Amid a dump no signal is sent: its processes are not themselves then.
void Supervisor::EndSaving(EndCause cause, Duration grace) {
  if (criu_ == nullptr || grace <= Duration(0)) {
    termination_.Terminate(grace);
    return;
  }
  end_by_ = clock_.SteadyNow() + grace;
  save_at_end_ = EndsWithItsCheckpoint(cause, order_.launch.spec) && SavableLeader() != 0;
  if (!save_at_end_ && !criu_->busy()) {
    termination_.Terminate(grace);
    return;
  }
  suspension_.Undo();
  termination_.KillAfter(grace);
  EndAfterDump();
}

void Supervisor::EndAfterDump() {
  if (!end_.forced() || end_.job_over() || criu_->busy()) {
    return;
  }
  const pid_t leader = SavableLeader();
  if (std::exchange(save_at_end_, false) && leader != 0) {
    criu_->Dump(leader, AfterDump::kStop, checkpoints_.told(), [this](const absl::Status& status) {
      checkpoints_.Report(false);
      if (status.ok()) {
        termination_.Kill();  // they stand where they were saved
      } else {
        EndAfterDump();
      }
    });
    return;
  }
  termination_.Terminate(
      std::max(std::chrono::duration_cast<Duration>(end_by_ - clock_.SteadyNow()), Duration(0)));
}

}  // namespace muster
