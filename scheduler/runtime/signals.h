#pragma once

// Signals as readable events: blocked everywhere, taken one by one from a descriptor in the event
// loop.
//
// A handler runs at any instruction and may do almost nothing; a signalfd is read where the loop
// chooses. Block before the first thread starts, so that every thread inherits the mask. Children
// that Spawn() starts get an empty mask back. Thread promise: BlockSignals and IgnoreBrokenPipes
// belong in main before threads; the rest is one reader's.

#include <sys/types.h>

#include <initializer_list>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {

// What arrived: which signal and from whom. `sender_pid` and `sender_uid` are 0 for the kernel's
// own.
struct SignalEvent {
  int number = 0;
  pid_t sender_pid = 0;
  uid_t sender_uid = 0;
};

// Blocks `signals` for this thread and those it starts; returns a non-blocking descriptor that
// reads them.
absl::StatusOr<UniqueFd> BlockSignals(std::initializer_list<int> signals);

// The next signal waiting on a descriptor of BlockSignals, or nothing when none is.
absl::StatusOr<std::optional<SignalEvent>> NextSignal(const UniqueFd& signals);
// The same; of a descriptor that cannot be read there is none.
std::optional<SignalEvent> TakeSignal(const UniqueFd& signals);

// Makes a write to a closed pipe or socket an error (EPIPE) and not the end of the process.
void IgnoreBrokenPipes();

}  // namespace muster
