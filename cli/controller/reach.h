#pragma once

// Whether a controller can be reached, and what is said when it cannot.
//
// Thread promise: safe from any thread.

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "cli/controller/address.h"

namespace muster::cli {

// The longest path of a socket.
extern const std::size_t kSocketPathBytesMax;

// What connect(2) says of the controller's socket: 0, or an errno. Takes microseconds, and tells a
// controller that never was from one that is restarting. REQUIRES: the path is not too long.
int ProbeSocket(const std::string& path);

// No controller answers, at any of the addresses.
absl::Status Nobody(const Address& address);

// What gRPC says of a call that never left: either end could not be told from a stranger. Trying
// again does not help. OK: it was something else.
absl::Status Mistrust(const Address& address, const std::string& message);

}  // namespace muster::cli
