#include "daemon/access/rpc.h"

#include <string>
#include <utility>

#include "proto/convert/origin.h"

namespace muster::daemon {

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()),
                      kFromController);
}

void ReadAside(Worker& reader, grpc::ServerUnaryReactor* reactor, TaskQueue::Task work) {
  if (!reader.Run(std::move(work))) {
    reactor->Finish(ToGrpc(absl::UnavailableError("too many readers; try again")));
  }
}

}  // namespace muster::daemon
