#pragma once

// Whether an address of the controller's own answers: a call through it, as a caller would make it.
//
// Over a unix socket that is a Ping, which it answers. Over TLS it is a call that shows nothing:
// the refusal says that connections are taken, hands shaken and headers read, and needs no way in
// that others could use. Thread promise: safe from any thread but those that serve; a call takes
// until there is an answer, or kProbePatience.

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "daemon/serve/server.h"

namespace muster::daemon {

inline constexpr std::chrono::seconds kProbePatience{5};

// Unavailable, one line, when the address ("unix:PATH", "HOST:PORT") does not answer.
absl::Status AskDoor(const std::string& address, const TlsFiles& tls);

}  // namespace muster::daemon
