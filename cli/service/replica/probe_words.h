#pragma once

// The words of a service: how a replica is asked whether it is well, and the names of its ports.
//
// Pure. Invariants: an http path begins with "/" and holds neither blanks nor control characters;
// two ports of a service have different variables.

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

enum class ProbeKind { kHttp, kTcp };

struct ServiceProbe {
  ProbeKind kind = ProbeKind::kTcp;
  std::string path = {};  // of kHttp
  Duration interval = std::chrono::seconds(10);
  friend bool operator==(const ServiceProbe&, const ServiceProbe&) = default;
};

// "http:/health", "http:/health,30s", "tcp" or "tcp,5s". InvalidArgument in one line.
absl::StatusOr<ServiceProbe> ParseProbe(const std::string& text);

// "http,metrics": names in their order. InvalidArgument names the one that cannot be.
absl::StatusOr<std::vector<std::string>> ParsePortNames(const std::string& text);
// "MUSTER_PORT_HTTP" of "http".
std::string PortVariable(const std::string& port);

}  // namespace muster::cli
