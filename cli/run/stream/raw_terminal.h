#pragma once

// The terminal at our standard input, while its keys go to a rank (--pty).
//
// Thread promise: one owner. Invariant: however its life ends, short of SIGKILL, the terminal is as
// it was before.

#include <termios.h>

#include <optional>

#include "absl/status/statusor.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::cli {

// FailedPrecondition when standard input is no terminal.
absl::StatusOr<TerminalSize> SizeOfTerminal();

class RawTerminal {
 public:
  RawTerminal() = default;
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal() { Leave(); }

  // From now on every key is a byte, and nothing is echoed; nothing where there is no terminal.
  void Enter();
  void Leave();
  [[nodiscard]] bool raw() const { return before_.has_value(); }

 private:
  std::optional<termios> before_;
};

}  // namespace muster::cli
