// The side of Supervisor that hears of the programs' checkpoints.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/checkpoint/checkpoint_flush.h"
#include "agent/supervisor/supervisor.h"

namespace muster {
namespace {

constexpr Duration kLook{1000};
constexpr Duration kLookForAnswer{100};
constexpr Duration kReportPause{10'000};

}  // namespace

// Without its pages the job runs as well: its programs are told of none then.
SupervisorOrder Supervisor::WithPages(SupervisorOrder order, CheckpointHints* hints,
                                      CheckpointWatch* watch, const Logger& log) {
  const auto made = [&log](const absl::Status& status) {
    if (!status.ok()) {
      log.Warning("supervisor", std::string(status.message()));
    }
    return status.ok();
  };
  if (!order.checkpoint_hints.empty() &&
      !made(hints->Make(order.checkpoint_hints, order.launch.program.environment))) {
    order.checkpoint_hints.clear();
  }
  hints->Advise(order.launch.advice);
  const absl::StatusOr<std::optional<JobUser>> user = FindJobUser(order.launch.spec.user);
  if (!order.checkpoint_progress.empty() &&
      (!user.ok() ||
       !made(watch->Make(order.checkpoint_progress, user->has_value() ? &**user : nullptr,
                         order.launch.started)))) {
    order.checkpoint_progress.clear();
  }
  if (order.launch.spec.checkpoint_with == CheckpointMeans::kCriu) {
    // Files of this attempt that its programs held open could not be restored in the next.
    order.checkpoint_hints.clear();
    order.checkpoint_progress.clear();
  }
  return order;
}

void Supervisor::WatchCheckpoints() {
  const bool by_criu = order_.launch.spec.checkpoint_with == CheckpointMeans::kCriu;
  if (end_.finished() || (order_.checkpoint_progress.empty() && !by_criu)) {
    return;
  }
  DumpWhenDue();
  ReportCheckpoints(false);
  After(kLook, [this] { WatchCheckpoints(); });
}

// At once where the scheduler waits for it; else what changes often is said now and then.
void Supervisor::ReportCheckpoints(bool last) {
  if (criu_ != nullptr) {
    watch_.Take(
        criu_->Progress(), [](const auto&) { return true; }, hints_.notice(), clock_.Now());
  } else {
    watch_.Look(hints_.notice(), clock_.Now());
  }
  if (!watch_.seen() && watch_.record() == CheckpointRecord()) {
    return;
  }
  warning_.TakeSlow(SlowCheckpoint());
  CheckpointRecord record = watch_.record();
  const Duration cost = record.count > 0 ? std::max(record.cost, Duration(1)) : Duration(0);
  hints_.Learn(cost, record.flush);
  record.interval = hints_.interval();
  record.copy_every = hints_.copy_every();
  const CheckpointRecord& told = told_checkpoints_;
  const bool news = (record.count > 0 && told.count == 0) || record.notice != told.notice ||
                    (hints_.has_turn() && record.count != told.count) ||
                    record.restart != told.restart || told_at_ == SteadyTime::min();
  const SteadyTime now = clock_.SteadyNow();
  if (record == told || !(last || news || now - told_at_ >= kReportPause)) {
    return;
  }
  told_checkpoints_ = record;
  told_at_ = now;
  RunCheckpointed fact;
  fact.time = clock_.Now();
  fact.record = record;
  reporter_.Report(std::move(fact));
}

void Supervisor::AwaitAnswer(EndCause cause) {
  if (EndsWithItsCheckpoint(cause, order_.launch.spec) && !order_.checkpoint_progress.empty() &&
      !std::exchange(awaits_answer_, true)) {
    LookForAnswer();
  }
}

void Supervisor::LookForAnswer() {
  if (end_.job_over()) {
    return;
  }
  ReportCheckpoints(false);
  // What is still on its way to the shared directory belongs to the checkpoint.
  if (watch_.Answered(hints_.notice()) && !FlushRuns()) {
    log_.Info("supervisor",
              absl::StrCat("its programs answered notice ", hints_.notice(), ": it ends now"));
    KillAll();
    return;
  }
  After(kLookForAnswer, [this] { LookForAnswer(); });
}

}  // namespace muster
