#include "agent/supervisor/criu/criu_duty.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr Duration kTryAgain{1000};
constexpr int kTries = 30;

}  // namespace

CriuDuty::CriuDuty(const Parts& parts, Handlers handlers)
    : parts_(parts), handlers_(std::move(handlers)), timers_(parts.loop) {}

absl::Status CriuDuty::Prepare(const JobUser* user) {
  if (parts_.order.launch.spec.checkpoint_with != CheckpointMeans::kCriu) {
    return absl::OkStatus();
  }
  const char* const criu = getenv(kCriuPath);  // NOLINT(concurrency-mt-unsafe): one thread
  std::error_code unknown;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
  const CriuCheckpoints::Place place{parts_.loop, parts_.clock, parts_.log, parts_.order, user};
  ASSIGN_OR_RETURN(criu_, CriuCheckpoints::Open(place, criu == nullptr ? "" : criu, self));
  parts_.checkpoints.ReadFrom([this] { return criu_->Progress(); });
  return absl::OkStatus();
}

void CriuDuty::Started() {
  if (criu_ != nullptr) {
    criu_->Restored();
  }
}

bool CriuDuty::BeginsOtherwise(const Step& step) {
  if (criu_ == nullptr || step.verdict().restore_failure() == 0 || parts_.end.ending()) {
    return false;
  }
  if (criu_->TakeFailure(step.verdict().restore_failure())) {
    BeginAgain();
    return true;
  }
  if (criu_->ids_taken() >= kTries) {
    return false;
  }
  timers_.After(kTryAgain, [this] { BeginAgain(); });
  return true;
}

void CriuDuty::BeginAgain() {
  if (parts_.end.ending()) {
    handlers_.on_give_up();
  } else if (parts_.suspension.ordered()) {
    timers_.After(kTryAgain, [this] { BeginAgain(); });
  } else {
    handlers_.begin();
  }
}

void CriuDuty::TakeEnd(const Step& step) {
  if (criu_ == nullptr || parts_.end.forced()) {
    return;
  }
  if (step.verdict().restore_failure() != 0) {
    parts_.end.Explain(absl::StrCat(
        parts_.order.node_name,
        ": its checkpoint cannot be restored while other processes have the ids of its own; "
        "requeue it to try again"));
  } else if (step.verdict().launch_error().empty() && parts_.end.status().signal == 0) {
    criu_->Forget();
  }
}

void CriuDuty::DumpWhenDue() {
  const pid_t leader = Leader();
  if (leader == 0 || parts_.suspension.ordered() || parts_.end.ending() ||
      criu_->Due(parts_.checkpoints.told()) == checkpoint::Need::kNone) {
    return;
  }
  criu_->Dump(leader, AfterDump::kRun, parts_.checkpoints.told(), [this](const absl::Status&) {
    parts_.checkpoints.Report(false);
    EndAfterDump();
  });
}

void CriuDuty::End(EndCause cause, Duration grace) {
  if (criu_ == nullptr || grace <= Duration(0)) {
    parts_.termination.Terminate(grace);
    return;
  }
  end_by_ = parts_.clock.SteadyNow() + grace;
  save_at_end_ = EndsWithItsCheckpoint(cause, parts_.order.launch.spec) && Leader() != 0;
  if (!save_at_end_ && !criu_->busy()) {
    parts_.termination.Terminate(grace);
    return;
  }
  parts_.suspension.Undo();
  parts_.termination.KillAfter(grace);
  EndAfterDump();
}

void CriuDuty::EndAfterDump() {
  if (!parts_.end.forced() || parts_.end.job_over() || criu_->busy()) {
    return;
  }
  const pid_t leader = Leader();
  if (std::exchange(save_at_end_, false) && leader != 0) {
    criu_->Dump(leader, AfterDump::kStop, parts_.checkpoints.told(),
                [this](const absl::Status& status) {
                  parts_.checkpoints.Report(false);
                  if (status.ok()) {
                    parts_.termination.Kill();  // they stand where they were saved
                  } else {
                    EndAfterDump();
                  }
                });
    return;
  }
  const auto left = std::chrono::duration_cast<Duration>(end_by_ - parts_.clock.SteadyNow());
  parts_.termination.Terminate(std::max(left, Duration(0)));
}

}  // namespace muster::agent
