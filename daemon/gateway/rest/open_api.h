#pragma once

// The description of /v1 for programs: OpenAPI 3.1, made from the descriptors of the protos.
//
// Invariants: every path of routes.h is in it, and no other; a message is one schema, by its name,
// in protobuf's JSON mapping.

#include <string>

namespace muster::daemon {

// The document, and the page of it that `muster-gateway --print-openapi` prints.
std::string MakeOpenApi(const std::string& version);

}  // namespace muster::daemon
