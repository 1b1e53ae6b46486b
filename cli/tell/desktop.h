#pragma once

// The user's desktop as a place for a message: the session bus, through notify-send.
//
// Thread promise: the caller's thread; ShowOnDesktop waits for notify-send, a few seconds at most.

#include <string>

#include "absl/status/status.h"
#include "cli/frame/environment.h"

namespace muster::cli {

// FailedPrecondition says what is missing: notify-send, or a session's bus.
absl::Status CheckDesktop(const Environment& environment);

// Shows the line. Unavailable: nothing on the bus took it.
absl::Status ShowOnDesktop(const Environment& environment, const std::string& line);

}  // namespace muster::cli
