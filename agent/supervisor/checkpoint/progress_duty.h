#pragma once

// Looks now and then whether an attempt's programs make progress, and says once that they do not.
//
// The sign is the file that the job names, as its user sees it; else the attempt's own file and how
// often the checkpoint library is asked. Thread promise: the loop's thread. Invariants: (1) on_hung
// is called once at most, and not while the attempt ends; (2) a look that brings no answer counts
// as no progress.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/checkpoint/progress_watch.h"
#include "agent/supervisor/ending/end_state.h"
#include "agent/supervisor/user_space/as_user.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class ProgressDuty {
 public:
  struct Handlers {
    std::function<std::uint64_t()> beats;  // of the checkpoint library
    std::function<bool()> suspended;
    std::function<void(const std::string& why)> on_hung;
  };

  // REQUIRES: the references outlive it.
  ProgressDuty(EventLoop& loop, const Clock& clock, const Logger& log, const SupervisorOrder& order,
               const EndState& end, Handlers handlers);
  ProgressDuty(const ProgressDuty&) = delete;
  ProgressDuty& operator=(const ProgressDuty&) = delete;

  // From now on, for a job that says for how long it may make none. `user`: the job's.
  void Begin(const JobUser* user);

 private:
  void MakeFile() const;
  [[nodiscard]] std::string NamedFile() const;
  void Look();
  void Judge(const ProgressSign& sign);

  EventLoop& loop_;
  const Clock& clock_;
  const Logger& log_;
  const SupervisorOrder& order_;
  const EndState& end_;
  const Handlers handlers_;
  const JobUser* user_ = nullptr;
  std::optional<ProgressWatch> watch_;
  std::unique_ptr<UserTask> task_;  // looks at the file that the job names
  ProgressSign last_;               // of that
  bool was_suspended_ = false;      // at the last look
  OwnTimers timers_;
};

}  // namespace muster::agent
