#pragma once

// The context of a call that came over a controller's own unix socket in frames, without gRPC.
//
// The socket is for its owner alone, so that is who calls; such a call has no metadata, and so no
// token or credential. Thread promise: as gRPC's contexts.

#include <grpcpp/grpcpp.h>

namespace muster::daemon {

class LocalContext final : public grpc::CallbackServerContext {};

}  // namespace muster::daemon
