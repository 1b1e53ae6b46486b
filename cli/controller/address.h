#pragma once

// Where the controller is, and where a personal cluster keeps its state.
//
// Invariant: an Address is either a unix socket's path or HOST:PORT with a port from 1 to 65535.

#include <string>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"

namespace muster::cli {

// By what a controller is known over TCP, and we to it: PEM files.
struct ClientKeys {
  std::string authority;     // whom to trust; empty: of a unix socket
  std::string certificate;   // ours; empty: MUNGE identifies us
  std::string key;           // its
  std::string munge_socket;  // empty: where libmunge looks
  friend bool operator==(const ClientKeys&, const ClientKeys&) = default;
};

struct Address {
  enum class Kind { kUnix, kTcp };
  Kind kind = Kind::kUnix;
  std::string path;  // kUnix
  std::string host;  // kTcp; an IPv6 address without its brackets
  std::string port;  // kTcp
  // As it was written: "unix:PATH" or "HOST:PORT".
  std::string text;
  ClientKeys keys = {};
  friend bool operator==(const Address&, const Address&) = default;
};

// Reads "unix:PATH", "HOST:PORT" or "[IPV6]:PORT".
absl::StatusOr<Address> ParseAddress(const std::string& text);

// True when the controller runs on this machine, so that a path here is a path there: a unix
// socket, localhost, an address in 127.0.0.0/8 or ::1. It says nothing of the process that listens
// there.
bool IsLocal(const Address& address);

// `option` (--state), else $MUSTER_STATE, else $XDG_STATE_HOME/muster, else ~/.local/state/muster;
// absolute. InvalidArgument when nothing says where home is.
absl::StatusOr<std::string> StateDirectory(const std::string& option,
                                           const Environment& environment);

// The keys for a TCP address: in $MUSTER_KEYS (ca.pem, and client.pem with client.key where they
// are), else /etc/muster/ca.pem. FailedPrecondition when there is neither: nothing goes over TCP in
// the clear, on this machine either.
absl::StatusOr<ClientKeys> FindKeys(const Address& address, const Environment& environment);

// `option` (--controller), else --state's socket, else $MUSTER_CONTROLLER, else the socket of the
// default state directory; with its keys.
absl::StatusOr<Address> ControllerAddress(const std::string& option,
                                          const std::string& state_option,
                                          const Environment& environment);

}  // namespace muster::cli
