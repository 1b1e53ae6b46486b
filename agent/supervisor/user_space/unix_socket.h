#pragma once

// Unix sockets by path, of any length: a socket's address holds 107 bytes, so its directory is
// opened and the address says /proc/self/fd/N/name. Errors name the path.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// A close-on-exec socket of `type` (SOCK_STREAM, SOCK_SEQPACKET or SOCK_DGRAM, with SOCK_NONBLOCK
// where wanted) connected to `path`.
absl::StatusOr<UniqueFd> ConnectUnix(const std::string& path, int type);

// The same bound to `path` with mode 0600; a connection-oriented one listens. A socket file that is
// left there is replaced.
absl::StatusOr<UniqueFd> BindUnix(const std::string& path, int type);

// The next connection of a listening socket of any family, close-on-exec and non-blocking; not
// valid when there is none. Where no descriptor is left it is closed, with a line on standard error
// now and then: left in the queue, it would wake whoever watches the listener for ever. One thread
// at a time.
UniqueFd AcceptConnection(int listener);

}  // namespace muster::agent
