#pragma once

// What every gRPC service of the controller shares: who calls, and how a status travels.
//
// Thread promise: safe from any thread.

#include <grpcpp/grpcpp.h>

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/access.h"

namespace muster {

// Who calls, when the table lets them call `method`.
absl::StatusOr<Caller> Admitted(const grpc::CallbackServerContext& context,
                                std::string_view method);

// The codes are the same numbers; the message is the one line for the user.
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace muster
