#pragma once

// The service for clients, called in frames instead of over gRPC: the same methods, handlers and
// access table.
//
// Thread promise: safe from any thread. Invariants: it knows every unary method of the service; a
// call is answered once.

#include <string>
#include <vector>

#include "daemon/client/client_service.h"
#include "daemon/door/framed_door.h"

namespace muster::daemon {

// Serves one call of a unary method ("Submit"); Unimplemented when there is none of that name.
void ServeFrame(ClientService& service, const std::string& method, const std::string& request,
                FramedDoor::Answer answer);

// The names of the methods that it serves.
std::vector<std::string> FramedMethods();

}  // namespace muster::daemon
