#pragma once

// Carries bytes between ranks, which know only the address that they were started with, and
// libpmix's server, which came later.
//
// Thread promise: it has a thread of its own, which lives as long as the process and takes no
// signals. Invariants: (1) bytes go on in their order, and an end of one side becomes an end of the
// other after them; (2) at most a bound of connections is open: whoever calls beyond is turned
// away.

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// From now on each connection that comes to `door`, a listening socket, is one to `server`
// ("ADDRESS:PORT"); at most `connections_max` at a time.
absl::Status StartPmixRelay(UniqueFd door, const std::string& server, std::size_t connections_max);

// A listening socket on the loopback; `port` is set.
absl::StatusOr<UniqueFd> OpenPmixDoor(int* port);

}  // namespace muster::agent
