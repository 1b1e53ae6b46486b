#pragma once

// What every gRPC service of the controller shares: how a status travels, and how a long answer is
// made beside the controller's loop.
//
// Invariants: a call that is handed to ReadAside is answered, by the work or by a refusal.

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "daemon/controller/worker.h"

namespace muster::daemon {

// The codes are the same numbers; the message is the one line for the user.
grpc::Status ToGrpc(const absl::Status& status);

// Has `reader` do the work, which answers the call; or answers that too many wait for that.
void ReadAside(Worker& reader, grpc::ServerUnaryReactor* reactor, TaskQueue::Task work);

}  // namespace muster::daemon
