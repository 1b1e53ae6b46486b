#include "daemon/rpc.h"

#include <string>

#include "scheduler/base/status.h"

namespace muster {

absl::StatusOr<Caller> Admitted(const grpc::CallbackServerContext& context,
                                std::string_view method) {
  const auto auth = context.auth_context();
  const bool authenticated = auth != nullptr && auth->IsPeerAuthenticated();
  ASSIGN_OR_RETURN(Caller caller, Identify(context.peer(), authenticated));
  RETURN_IF_ERROR(MayCall(caller, method));
  return caller;
}

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

}  // namespace muster
