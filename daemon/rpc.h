#pragma once

// What every gRPC service of the controller shares: how a status travels.
//
// Thread promise: safe from any thread.

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"

namespace muster {

// The codes are the same numbers; the message is the one line for the user.
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace muster
