#pragma once

// The service for clients, called in frames instead of over gRPC: the same door, access table and
// answers.
//
// Thread promise: safe from any thread. Invariant: a call is answered once.

#include <string>

#include "daemon/client/client_service.h"
#include "daemon/door/framed_door.h"

namespace muster::daemon {

// Serves one call of a unary method ("Submit"); Unimplemented when there is none of that name.
void ServeFrame(ClientService& service, const std::string& method, const std::string& request,
                FramedDoor::Answer answer);

}  // namespace muster::daemon
