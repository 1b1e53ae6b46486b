#pragma once

// The sockets of `muster forward`: where it listens, and what its relay reaches.
//
// Invariant: who listens does so on this machine's loopback alone.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/connect/port_words.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

// Takes the port on 127.0.0.1 (0: one of the kernel's choice), and does not listen yet: the job may
// be on this machine, and is to find no program there. FailedPrecondition: it is in use.
absl::StatusOr<UniqueFd> TakeOnLoopback(std::uint16_t port);
// From now on callers come.
absl::Status Listen(const UniqueFd& socket);
// The port of a socket.
std::uint16_t PortOf(const UniqueFd& socket);

// Begins a connection to the host and port; it does not block once the name is found.
absl::StatusOr<UniqueFd> BeginConnection(const ForwardedPort& target);
// Whether a program listens there; else in one line why not.
absl::Status CheckListens(const ForwardedPort& target);

}  // namespace muster::cli
