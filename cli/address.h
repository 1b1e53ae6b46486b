#pragma once

// Where the controller is, and where a personal cluster keeps its state.
//
// Thread promise: pure functions of their arguments. Invariant: an Address is either a unix
// socket's path or HOST:PORT with a port from 1 to 65535.

#include <string>

#include "absl/status/statusor.h"
#include "cli/environment.h"

namespace muster {

struct Address {
  enum class Kind { kUnix, kTcp };
  Kind kind = Kind::kUnix;
  std::string path;  // kUnix
  std::string host;  // kTcp; an IPv6 address without its brackets
  std::string port;  // kTcp
  // As it was written: "unix:PATH" or "HOST:PORT".
  std::string text;
  friend bool operator==(const Address&, const Address&) = default;
};

// Reads "unix:PATH", "HOST:PORT" or "[IPV6]:PORT".
absl::StatusOr<Address> ParseAddress(const std::string& text);

// True when the controller runs on this machine, so that a path here is a path there.
bool IsLocal(const Address& address);

// `option` (--state), else $MUSTER_STATE, else $XDG_STATE_HOME/muster, else ~/.local/state/muster;
// absolute. InvalidArgument when nothing says where home is.
absl::StatusOr<std::string> StateDirectory(const std::string& option,
                                           const Environment& environment);

// `option` (--controller), else --state's socket, else $MUSTER_CONTROLLER, else the socket of the
// default state directory.
absl::StatusOr<Address> ControllerAddress(const std::string& option,
                                          const std::string& state_option,
                                          const Environment& environment);

}  // namespace muster
