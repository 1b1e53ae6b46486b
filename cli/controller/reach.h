#pragma once

// Whether a controller can be reached, and what is said when it cannot.

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

// The error of a call whose handshake failed, from what gRPC says of it. Trying again does not
// help. OK: the message is about something else.
absl::Status HandshakeError(const Address& address, const std::string& message);

}  // namespace muster::cli
