#pragma once

// The gRPC channel to a controller, protected as its address asks, and what a refusal says.
//
// Over TCP, always with TLS, the other end must show a controller's certificate of the authority
// that we trust, or no byte of ours leaves; we show a client's certificate, or with each call a
// MUNGE credential that is good for that very certificate and method. Nothing weaker is ever tried
// instead. Invariant: a credential travels over TLS alone.

#include <grpcpp/grpcpp.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/address.h"

namespace muster::cli {

// An error names the file that cannot be read.
absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel(const Address& address);

// What the controller answered in place of a reply: its own first line, and never InvalidArgument,
// which is the command line's own. REQUIRES: not ok.
absl::Status Refusal(const grpc::Status& status);

}  // namespace muster::cli
