#pragma once

// [LOCAL:]PORT and LOCAL:HOST:PORT, as `muster forward` takes them.
//
// Pure. Invariants: `port` is from 1 to 65535; `host` holds no brackets.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace muster::cli {

struct ForwardedPort {
  std::uint16_t local = 0;  // on this machine; 0: of the kernel's choice
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  friend bool operator==(const ForwardedPort&, const ForwardedPort&) = default;
};

// "8888", "9000:8888", "9000:db:5432", "9000:[::1]:5432".
absl::StatusOr<ForwardedPort> ParseForwardedPort(const std::string& text);

// "HOST:PORT" or "[IPV6]:PORT", as a connection's end.
std::string EndOf(const ForwardedPort& port);

}  // namespace muster::cli
