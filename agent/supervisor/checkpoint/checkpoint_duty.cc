#include "agent/supervisor/checkpoint/checkpoint_duty.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/checkpoint/checkpoint_flush.h"
#include "agent/supervisor/checkpoint/safe_times.h"
#include "agent/supervisor/user_space/as_user.h"
#include "scheduler/base/text/duration_text.h"

namespace muster::agent {
namespace {

constexpr Duration kLook{1000};
constexpr Duration kLookForAnswer{100};
constexpr Duration kReportPause{10'000};
// More intervals than these without a checkpoint are too many (daemon/alerts/warnings.h).
constexpr int kIntervalsMost = 3;
constexpr Duration kOverdueLeast{60'000};
// At the end of the attempt, for the directory of its checkpoints.
constexpr Duration kDirectoryLimit{5000};

std::optional<Time> LastChangeIn(const JobUser* user, const std::string& directory) {
  const absl::StatusOr<Brought> looked = RunAsUser(
      user, kDirectoryLimit,
      [&directory]() -> absl::StatusOr<Brought> { return BringValue(NewestChange(directory)); });
  return looked.ok() ? ValueIn<std::optional<Time>>(*looked).value_or(std::nullopt) : std::nullopt;
}

}  // namespace

CheckpointDuty::CheckpointDuty(EventLoop& loop, const Clock& clock, const Logger& log,
                               const SupervisorOrder& order, Reporter& reporter,
                               const EndState& end, Handlers handlers)
    : clock_(clock),
      log_(log),
      order_(order),
      reporter_(reporter),
      end_(end),
      handlers_(std::move(handlers)),
      timers_(loop) {}

// Without its pages the job runs as well: its programs are given none then.
void CheckpointDuty::MakePages(SupervisorOrder* order) {
  const auto made = [this](const absl::Status& status) {
    if (!status.ok()) {
      log_.Warning("supervisor", std::string(status.message()));
    }
    return status.ok();
  };
  if (!order->checkpoint_hints.empty() &&
      !made(hints_.Make(order->checkpoint_hints, order->launch.program.environment))) {
    order->checkpoint_hints.clear();
  }
  hints_.Advise(order->launch.advice);
  const absl::StatusOr<std::optional<JobUser>> user = FindJobUser(order->launch.spec.user);
  if (!order->checkpoint_progress.empty() &&
      (!user.ok() ||
       !made(watch_.Make(order->checkpoint_progress, user->has_value() ? &**user : nullptr,
                         order->launch.started)))) {
    order->checkpoint_progress.clear();
  }
  if (order->launch.spec.checkpoint_with == CheckpointMeans::kCriu) {
    // Files of this attempt that its programs held open could not be restored in the next.
    order->checkpoint_hints.clear();
    order->checkpoint_progress.clear();
  }
}

void CheckpointDuty::Watch() {
  const bool by_criu = order_.launch.spec.checkpoint_with == CheckpointMeans::kCriu;
  if (end_.finished() || (order_.checkpoint_progress.empty() && !by_criu)) {
    return;
  }
  handlers_.before_look();
  Report(false);
  timers_.After(kLook, [this] { Watch(); });
}

// At once where the scheduler waits for it; else what changes often is said now and then.
bool CheckpointDuty::IsNews(const CheckpointRecord& record) const {
  return (record.count > 0 && reported_.count == 0) || record.notice != reported_.notice ||
         (record.failed > 0) != (reported_.failed > 0) || record.refused != reported_.refused ||
         (hints_.has_slot() && record.count != reported_.count) ||
         record.restart != reported_.restart || reported_at_ == SteadyTime::min();
}

void CheckpointDuty::Report(bool last) {
  if (read_) {
    watch_.Take(
        read_(), [](const auto&) { return true; }, hints_.notice(), clock_.Now());
  } else {
    watch_.Look(hints_.notice(), clock_.Now());
  }
  if (!watch_.seen() && watch_.record() == CheckpointRecord()) {
    return;
  }
  handlers_.on_slow(Slow());
  CheckpointRecord record = watch_.record();
  const Duration cost = record.count > 0 ? std::max(record.cost, Duration(1)) : Duration(0);
  hints_.Learn(cost, record.flush);
  record.interval = hints_.interval();
  record.copy_every = hints_.copy_every();
  const SteadyTime now = clock_.SteadyNow();
  if (record == reported_ || !(last || IsNews(record) || now - reported_at_ >= kReportPause)) {
    return;
  }
  reported_ = record;
  reported_at_ = now;
  RunCheckpointed fact;
  fact.time = clock_.Now();
  fact.record = record;
  reporter_.Report(fact);
}

bool CheckpointDuty::Advise(const CheckpointAdvice& advice) {
  const bool news = advice.number > hints_.advice().number;
  hints_.Advise(advice);
  return news;
}

Duration CheckpointDuty::Slow() const {
  const Duration here = watch_.record().slow;
  return here > Duration(0) ? here : hints_.advice().slow;
}

std::optional<ReportedFinding> CheckpointDuty::Overdue() const {
  const Duration interval = hints_.interval();
  const Duration without = clock_.Now() - order_.launch.started;
  if (interval <= Duration(0) || watch_.record().count > 0 ||
      without <= std::max(kIntervalsMost * interval, kOverdueLeast)) {
    return std::nullopt;
  }
  return ReportedFinding{
      "CheckpointOverdue",
      absl::StrCat(
          "it asked for a checkpoint every ", RoughText(interval),
          ", and has made none since it began: do its programs use the checkpoint library?"),
      order_.launch.started + interval};
}

void CheckpointDuty::AnnounceEnd(EndCause cause, Time end) {
  hints_.Announce(cause, end);
  if (EndsWithItsCheckpoint(cause, order_.launch.spec) && !order_.checkpoint_progress.empty() &&
      !std::exchange(awaits_answer_, true)) {
    LookForAnswer();
  }
}

void CheckpointDuty::LookForAnswer() {
  if (end_.job_over()) {
    return;
  }
  Report(false);
  // What is still on its way to the shared directory belongs to the checkpoint.
  if (watch_.Answered(hints_.notice()) && !FlushRuns()) {
    log_.Info("supervisor",
              absl::StrCat("its programs answered notice ", hints_.notice(), ": it ends now"));
    handlers_.on_answered();
    return;
  }
  timers_.After(kLookForAnswer, [this] { LookForAnswer(); });
}

// From the warning until the job ended with the code that says so, else until what lies in its
// directory changed last.
void CheckpointDuty::LearnFrom(const EndWarning& warning, const JobUser* user,
                               const std::string& directory) {
  const JobSpec& spec = order_.launch.spec;
  if (!warning.sent().has_value() || !end_.main_ended().has_value() || watch_.seen()) {
    return;
  }
  const Duration ran =
      std::chrono::duration_cast<Duration>(*end_.main_ended() - warning.sent()->steady);
  if (spec.requeue_exit != 0 && spec.requeue_exit != kNoRequeueExit &&
      end_.status().code == static_cast<int>(spec.requeue_exit) && end_.status().signal == 0) {
    watch_.TakeSafeTime(ran);
    return;
  }
  if (!spec.warning.automatic) {
    return;
  }
  const std::optional<Time> changed = LastChangeIn(user, directory);
  if (changed.has_value() && *changed > warning.sent()->wall) {
    watch_.TakeSafeTime(std::min(*changed - warning.sent()->wall, ran));
  }
}

}  // namespace muster::agent
