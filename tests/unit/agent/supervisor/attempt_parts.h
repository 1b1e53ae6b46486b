#pragma once

// The parts of a supervisor in the test's own process, without the Supervisor that wires them: each
// test wires what it is about.
//
// Thread promise: one thread. Invariant: no process that a test started outlives it.

#include <sys/resource.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "agent/supervisor/attempt/reporter.h"
#include "agent/supervisor/ending/end_state.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"
#include "tests/unit/agent/supervisor/attempt_fixture.h"

namespace muster::agent {

class AttemptParts : public AttemptFixture {
 protected:
  AttemptParts();
  ~AttemptParts() override;

  // Turns the loop for so long.
  void Turn(std::chrono::milliseconds time);
  // Turns it until `condition` holds; false after ten seconds.
  bool TurnUntil(const std::function<bool()>& condition);
  // Has the file `name`, which programs make in their working directory, come to be?
  [[nodiscard]] bool Made(const std::string& name) const;

  // Called with each child that has ended, before and after it is waited for.
  std::function<void(pid_t)> before_reap_ = [](pid_t) {};
  std::function<void(pid_t, int, const rusage&)> reaped_ = [](pid_t, int, const rusage&) {};

  const SystemClock clock_;
  const Logger log_;
  const std::unique_ptr<EventLoop> loop_;
  Reporter reporter_;
  EndState end_;

 private:
  void Reap();
};

}  // namespace muster::agent
