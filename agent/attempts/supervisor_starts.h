#pragma once

// Starts the processes that own attempts: as copies of one that was prepared, or, where there is no
// such, by executing the program.
//
// A copy costs a fork; an executed supervisor several times that. The prepared process comes with
// the first start and goes when none has been wanted for a while; what it was started with holds
// until then, also if the program's file is replaced. Thread promise: the owner thread's.
// Invariants: (1) whatever becomes of the prepared process, a start succeeds as long as the program
// can be executed; (2) of one start there are two processes at most, and the claim lets one of them
// work; (3) the pid of a copy is known among Children before anybody can be reaped.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/attempts/children.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class SupervisorStarts {
 public:
  struct Config {
    std::string program;                   // muster-supervisor
    std::vector<std::string> environment;  // what it is started with
    std::size_t path_bytes = 0;            // of an attempt's directory, at most
    std::chrono::milliseconds answer_within{2000};
    std::chrono::seconds idle_max{300};  // then the prepared process goes
    std::chrono::seconds retry{60};      // after one that was of no use
  };

  SupervisorStarts(const Clock& clock, const Logger& log, Children& children, Config config);
  SupervisorStarts(const SupervisorStarts&) = delete;
  SupervisorStarts& operator=(const SupervisorStarts&) = delete;
  ~SupervisorStarts();

  // As Children::SpawnSupervisor.
  absl::StatusOr<pid_t> Start(const AttemptDirectory& directory, const char* what = "--dir");

  // Called every few seconds.
  void Check();

 private:
  // Unavailable: it is not ready yet. Any other error: it is of no use.
  absl::StatusOr<pid_t> Copy(const AttemptDirectory& directory, const char* what);
  absl::Status AwaitReady();
  absl::StatusOr<pid_t> AwaitCopy();
  absl::Status Prepare();
  void Drop();

  const Clock& clock_;
  const Logger& log_;
  Children& children_;
  const Config config_;
  UniqueFd socket_;  // valid: it runs
  UniqueFd pidfd_;
  pid_t pid_ = 0;
  bool ready_ = false;
  SteadyTime used_ = SteadyTime::min();
  SteadyTime not_before_ = SteadyTime::min();  // is another one prepared
};

}  // namespace muster::agent
