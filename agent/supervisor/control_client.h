#pragma once

// How an agent talks to a supervisor: one command, one answer, over the attempt's control socket.
//
// A command is one packet; one too large for a socket's buffer travels as a sealed memory file
// whose descriptor the packet carries. Thread promise: safe from any thread. Waits for the answer
// at most two seconds: a supervisor answers at once or is dead or stopped.

#include <string>

#include "absl/status/status.h"
#include "agent/supervisor/attempt_directory.h"
#include "scheduler/model/order.h"
#include "scheduler/runtime/clock.h"

namespace muster {

// Commands larger than this go by memory file.
inline constexpr std::size_t kControlPacketBytes = std::size_t{64} << 10;
// No command is larger.
inline constexpr std::size_t kControlCommandBytesMax = std::size_t{4} << 20;

// OK once the supervisor took the order. Unavailable: no supervisor answers (dead, not there yet,
// or gone after its end); FailedPrecondition: it refused, the message is its line.
absl::Status SendStep(const AttemptDirectory& directory, const StepOrder& order);
absl::Status SendTerminate(const AttemptDirectory& directory, const TerminateOrder& order);
absl::Status SendSuspend(const AttemptDirectory& directory, const SuspendOrder& order);
absl::Status SendSignal(const AttemptDirectory& directory, const SignalOrder& order);
absl::Status SendAttach(const AttemptDirectory& directory, const AttachOrder& order);
absl::Status SendAdvice(const AttemptDirectory& directory, const AdviceOrder& order);
absl::Status SendLease(const AttemptDirectory& directory, SteadyTime until);

}  // namespace muster
