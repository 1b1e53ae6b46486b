#pragma once

// A client of a supervisor's control socket, for tests: one command, one answer.
//
// Waits for the answer at most two seconds: a supervisor answers at once or is dead or stopped.

#include <string>

#include "absl/status/status.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "scheduler/model/job/order.h"
#include "scheduler/runtime/clock.h"

namespace muster::agent {

// OK once the supervisor took the order. Unavailable: no supervisor answers (dead, not there yet,
// or gone after its end); FailedPrecondition: it refused, the message is its line.
absl::Status SendStep(const AttemptDirectory& directory, const StepOrder& order);
absl::Status SendTerminate(const AttemptDirectory& directory, const TerminateOrder& order);
absl::Status SendSuspend(const AttemptDirectory& directory, const SuspendOrder& order);
absl::Status SendSignal(const AttemptDirectory& directory, const SignalOrder& order);
absl::Status SendAttach(const AttemptDirectory& directory, const AttachOrder& order);
absl::Status SendAdvice(const AttemptDirectory& directory, const AdviceOrder& order);
absl::Status SendLease(const AttemptDirectory& directory, SteadyTime until);

}  // namespace muster::agent
