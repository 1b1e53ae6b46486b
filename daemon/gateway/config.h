#pragma once

// muster-gateway's settings: from the command line and, where given, a TOML file.
//
// Invariants: what ParseGatewayConfig returns is complete and has been checked: without TLS it
// listens on loopback alone.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/gateway/http/server.h"

namespace muster::daemon {

struct GatewayConfig {
  std::vector<std::string> listen;  // HOST:PORT; empty: sockets that are passed, or the default
  std::string controller;           // unix:PATH or HOST:PORT
  std::string authority;            // PEM: whom to trust there
  std::string tls_certificate;      // PEM
  std::string tls_key;
  std::string links;  // the directory of one-time links; empty: there are none
  http::ServerLimits limits;
  int ready_fd = -1;   // is told where we listen, once we do
  int listen_fd = -1;  // a socket that listens already
  bool help = false;
  std::string help_text;
  bool print_open_api = false;

  [[nodiscard]] bool tls() const { return !tls_certificate.empty(); }
};

inline constexpr const char* kGatewayListenDefault = "127.0.0.1:7118";

// From argv. InvalidArgument is one line for the user.
absl::StatusOr<GatewayConfig> ParseGatewayConfig(int argc, const char* const* argv);

// Whether we may listen there: what is not encrypted stays on this machine.
absl::Status CheckListen(const std::string& address, bool tls);

}  // namespace muster::daemon
