#pragma once

// The service for clients, called in frames instead of over gRPC: the same door, access table and
// answers.
//
// Invariant: a call is answered once.

#include "daemon/client/client_service.h"
#include "daemon/door/framed_door.h"

namespace muster::daemon {

// Serves calls of the service's unary methods ("Submit"); Unimplemented when there is none of that
// name. `service` outlives the calls.
FramedDoor::Serve FramesFor(ClientService& service);
// Serves those that watch a job ("WatchJob"). `service` outlives the streams.
FramedDoor::ServeStream StreamsFor(ClientService& service);

}  // namespace muster::daemon
