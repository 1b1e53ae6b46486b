#include "daemon/access/call.h"

#include <grpcpp/support/proto_buffer_writer.h>

namespace muster::daemon {

void AnyCall::Send(const absl::Status& status, const google::protobuf::Message& message) const {
  if (status.ok()) {
    constexpr int kBlockBytesMax = 1 << 20;
    const auto size = static_cast<int>(message.ByteSizeLong());
    grpc::ProtoBufferWriter writer(reply, kBlockBytesMax, size);
    message.SerializeToZeroCopyStream(&writer);
  }
  reactor->Finish(ToGrpc(status));
}

}  // namespace muster::daemon
