#pragma once

// Who of an attempt's steps a signal is for, and who looks on at one.
//
// Thread promise: the loop's thread. Invariant: a signal that nobody here is meant to have, or that
// names a step that does not run here, changes nothing.

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/step/step.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/job/order.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class SignalRouter {
 public:
  // The attempt's steps here; `grace` goes before SIGKILL where a step is ordered to end. REQUIRES:
  // the references outlive it.
  SignalRouter(const Logger& log, const StepMap& steps, std::string attempt, Duration grace)
      : log_(log), steps_(steps), attempt_(std::move(attempt)), grace_(grace) {}

  // Signal 0 ends one step, or the batch script.
  absl::Status Take(const SignalOrder& order) const;
  absl::Status Take(const AttachOrder& order) const;
  // Before the end of the attempt; false: there is nobody here to be warned.
  bool Warn(const WarningSignal& warning) const;

 private:
  [[nodiscard]] absl::StatusOr<Step*> Find(StepId id) const;

  const Logger& log_;
  const StepMap& steps_;
  const std::string attempt_;
  const Duration grace_;
};

}  // namespace muster::agent
