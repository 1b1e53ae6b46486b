#pragma once

// Sockets that the controller listens on: those that it opens, and those that a service manager
// has opened for it (socket activation).
//
// What a passed socket is for: while the controller is down or starts again, callers wait in the
// socket's queue instead of being refused. Thread promise: none needed; ListenOn changes the
// process's umask for a moment. Invariant: a unix socket is its owner's alone from the moment it is
// there.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::daemon {

// Whether the address is a unix socket's ("unix:PATH").
bool IsUnix(std::string_view address);

// Listens on "unix:PATH" or "HOST:PORT": a socket for each address that HOST has, all with one
// port. A socket file on which no process listens any more is replaced: the caller holds the
// store's lock. Unavailable, one line, when the address is taken or not ours.
absl::StatusOr<std::vector<UniqueFd>> ListenOn(const std::string& address);

// "unix:PATH" or "HOST:PORT" of a listening socket. InvalidArgument, one line, when it is no
// listening stream socket, and PermissionDenied when it is a unix socket that others than its owner
// may open or that belongs to another user than ours: agents take its owner for the user that
// serves there.
absl::StatusOr<std::string> AddressOfPassed(const UniqueFd& socket);

// What connections inherit from the listening socket: no delay of small writes, an end of
// those whose other side is gone; and accept4 does not block.
void Prepare(const UniqueFd& socket);

// The TCP port of the socket's own end; 0: it has none.
int PortOf(const UniqueFd& socket);

}  // namespace muster::daemon
