#pragma once

// Carries bytes between ranks, which know only the address that they were started with, and
// libpmix's server, which came later.
//
// Thread promise: it has a thread of its own, which lives as long as the process and takes no
// signals. Invariants: (1) bytes go on in their order, and an end of one side becomes an end of the
// other after them; (2) at most a bound of connections is open: whoever calls beyond is turned
// away; (3) so is a caller who is neither the ranks' user nor root, wherever the kernel tells whose
// a connection is: the door is open to all users of the node.

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// From now on each connection that comes to `door`, a listening socket, from `user` is one to
// `server` ("ADDRESS:PORT"); at most `connections_max` at a time.
absl::Status StartPmixRelay(UniqueFd door, const std::string& server, std::size_t connections_max,
                            uid_t user);

// A listening socket on the loopback; `port` is set.
absl::StatusOr<UniqueFd> OpenPmixDoor(int* port);

}  // namespace muster::agent
