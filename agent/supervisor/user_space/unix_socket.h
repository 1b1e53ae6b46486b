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

}  // namespace muster::agent
