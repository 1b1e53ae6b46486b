#pragma once

// Where the controller is and by which keys its link is protected.
//
// Invariant: what CheckControllerAddress() accepts is a unix socket, or TCP where both ends show
// certificates: to hold a port proves nothing.

#include <string>

#include "absl/status/status.h"

namespace muster::agent {

// PEM files; all three or none.
struct AgentTlsFiles {
  std::string certificate;  // ours, with its chain
  std::string key;
  std::string authority;  // the authority that signed the controller's
  bool complete() const { return !certificate.empty() && !key.empty() && !authority.empty(); }
  bool empty() const { return certificate.empty() && key.empty() && authority.empty(); }
};

// InvalidArgument, saying what to give instead, unless `address` is "unix:PATH" (of at most 107
// bytes, which is what a socket's address holds) without `tls`, or "HOST:PORT" with it, or several
// of these by commas. `node` is ours, for which keys are made.
absl::Status CheckControllerAddress(const std::string& address, const AgentTlsFiles& tls,
                                    const std::string& node);

// What to do where the keys of `node` are missing.
std::string HowToMakeKeys(const std::string& node);

// The path of "unix:PATH"; empty for TCP.
std::string UnixPath(const std::string& address);

}  // namespace muster::agent
