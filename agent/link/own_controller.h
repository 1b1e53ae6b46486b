#pragma once

// The connection of an agent without keys: to a controller of its own user's, or root's.
//
// Invariant: no byte is sent to, or read from, a process of another user, nor one to whom a socket
// of another's was handed.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// Connects to the unix socket at `path`. PermissionDenied, in one line, when another user listens
// there (SO_PEERCRED) or the socket is in another's name, as one is that a service manager opened
// for him; `node` is ours, for which keys would be made. Any other error: no process listens there
// now.
absl::StatusOr<UniqueFd> ConnectToOwnController(const std::string& path, const std::string& node);

}  // namespace muster::agent
