#pragma once

// What the supervisor does about its attempt's checkpoints: advises the programs, looks each second
// at what they say, reports it, and waits for their answer to the notice that the attempt ends.
//
// Programs that have answered that notice need no grace, where the checkpoint was all that was
// wanted of them (ending/end_state.h). A job whose checkpoints CRIU makes has no pages. Thread
// promise: the loop's thread. Invariants: (1) a record is reported when it has changed, and at most
// every ten seconds unless the scheduler waits for it; (2) where the pages cannot be made the job
// runs as well.

#include <functional>
#include <optional>
#include <string>

#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/attempt/reported_values.h"
#include "agent/supervisor/attempt/reporter.h"
#include "agent/supervisor/checkpoint/checkpoint_hints.h"
#include "agent/supervisor/checkpoint/checkpoint_watch.h"
#include "agent/supervisor/ending/end_state.h"
#include "agent/supervisor/ending/end_warning.h"
#include "agent/supervisor/user_space/job_user.h"
#include "checkpoint/advice/progress.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class CheckpointDuty {
 public:
  struct Handlers {
    std::function<void()> before_look;           // each second
    std::function<void(Duration slow)> on_slow;  // checkpoints take that at the most
    std::function<void()> on_answered;           // every program has, and it is safe
  };
  using ReadReport = std::function<checkpoint::ProgressReport()>;

  // REQUIRES: the references outlive it.
  CheckpointDuty(EventLoop& loop, const Clock& clock, const Logger& log,
                 const SupervisorOrder& order, Reporter& reporter, const EndState& end,
                 Handlers handlers);
  CheckpointDuty(const CheckpointDuty&) = delete;
  CheckpointDuty& operator=(const CheckpointDuty&) = delete;

  // Makes the pages that `order` names, which is the one it was made with; takes out the names of
  // those that there are not.
  void MakePages(SupervisorOrder* order);
  // From now on what the programs would say comes from `read`.
  void ReadFrom(ReadReport read) { read_ = std::move(read); }
  // Looks from now on, each second, until the attempt is over.
  void Watch();
  // `last`: the attempt is over.
  void Report(bool last);
  // True: newer than what was taken before.
  bool Advise(const CheckpointAdvice& advice);
  // The attempt ends then, unless it is ordered to end before; kNoTime: it has no limit.
  void SetEnd(Time end) { hints_.SetEnd(end); }
  // It is ordered to end for that cause, and is killed at `end`.
  void AnnounceEnd(EndCause cause, Time end);
  // Of programs that do not use the library: how long their checkpoint took, as far as their answer
  // to the warning shows it. The attempt is over. `directory` is that of its checkpoints, the
  // user's own.
  void LearnFrom(const EndWarning& warning, const JobUser* user, const std::string& directory);

  // All that the programs are told.
  [[nodiscard]] const checkpoint::Hints& told() const { return hints_.told(); }
  // What checkpoints take at the most, as this attempt has measured it, else the ones before.
  [[nodiscard]] Duration Slow() const;
  // That it was asked for checkpoints at an interval and has made none for several of them: no
  // record says so, as its programs have told nothing.
  [[nodiscard]] std::optional<ReportedFinding> Overdue() const;
  // See CheckpointWatch.
  [[nodiscard]] std::uint64_t beats() const { return watch_.beats(); }

 private:
  void LookForAnswer();
  [[nodiscard]] bool IsNews(const CheckpointRecord& record) const;

  const Clock& clock_;
  const Logger& log_;
  const SupervisorOrder& order_;
  Reporter& reporter_;
  const EndState& end_;
  const Handlers handlers_;
  CheckpointHints hints_;
  CheckpointWatch watch_;
  ReadReport read_;
  CheckpointRecord reported_;
  SteadyTime reported_at_ = SteadyTime::min();
  bool awaits_answer_ = false;
  OwnTimers timers_;
};

}  // namespace muster::agent
