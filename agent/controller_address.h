#pragma once

// Where the controller is and by which keys its link is protected.
//
// Thread promise: plain values. Invariant: what CheckControllerAddress() accepts never sends a job
// over a network in the clear.

#include <string>

#include "absl/status/status.h"

namespace muster {

// PEM files; all three or none.
struct TlsFiles {
  std::string certificate;  // ours, with its chain
  std::string key;
  std::string authority;  // who signed the controller's
  bool complete() const { return !certificate.empty() && !key.empty() && !authority.empty(); }
  bool empty() const { return certificate.empty() && key.empty() && authority.empty(); }
};

// InvalidArgument, saying what to give instead, unless `address` is "unix:PATH" (of at most 107
// bytes, which is what gRPC can use), a loopback "HOST:PORT", or any "HOST:PORT" with `tls`.
absl::Status CheckControllerAddress(const std::string& address, const TlsFiles& tls);

// True for "unix:PATH".
bool IsUnixAddress(const std::string& address);

}  // namespace muster
