#pragma once

// Where a service is to be reached, as other programs read it: nginx, Caddy, or anything.
//
// Pure. Invariants: only replicas that are ready stand in it, in the order of their addresses; the
// same replicas give the same text; a text for nginx is one that it takes, also without a replica.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/service/service_replica.h"

namespace muster::cli {

enum class EndpointFormat { kLines, kNginx, kCaddy, kJson };

absl::StatusOr<EndpointFormat> ParseEndpointFormat(const std::string& word);

// `port` is a port's name; "": the first one of each replica. NotFound: a replica that is ready has
// no such port.
absl::StatusOr<std::string> EndpointText(const std::string& service,
                                         const std::vector<ServiceReplica>& replicas,
                                         const std::string& port, EndpointFormat format);

}  // namespace muster::cli
