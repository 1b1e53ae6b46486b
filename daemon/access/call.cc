#include "daemon/access/call.h"

namespace muster::daemon {

void AnyCall::Send(const absl::Status& status, const std::string& message) const {
  if (status.ok()) {
    const grpc::Slice slice(message);
    *reply = grpc::ByteBuffer(&slice, 1);
  }
  reactor->Finish(ToGrpc(status));
}

}  // namespace muster::daemon
