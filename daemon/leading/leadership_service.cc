#include "daemon/leading/leadership_service.h"

#include "absl/strings/str_cat.h"
#include "daemon/access/rpc.h"

namespace muster::daemon {
namespace {

constexpr const char* kReadControllerStatus = "/muster.wire.Leadership/ReadControllerStatus";
constexpr const char* kHandOver = "/muster.wire.Leadership/HandOver";

}  // namespace

grpc::ServerUnaryReactor* LeadershipService::ReadControllerStatus(
    Context* context, const wire::ReadControllerStatusRequest* /*request*/,
    wire::ReadControllerStatusReply* reply) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const absl::StatusOr<Caller> caller = gate_.Admit(*context, kReadControllerStatus);
  if (caller.ok()) {
    const LeaderLoop* const loop = loop_;
    const LeadStatus status =
        loop != nullptr ? loop->status()
                        : LeadStatus{name_, controller_.leads(), controller_.leads() ? name_ : "",
                                     "", std::chrono::milliseconds(0)};
    reply->set_name(status.name);
    reply->set_leads(status.leads);
    reply->set_leader(status.leader);
    reply->set_leader_addresses(status.leader_addresses);
    reply->set_epoch(controller_.epoch().value());
    reply->set_version(controller_.followed().value());
    reply->set_age(static_cast<std::uint64_t>(status.age.count()));
  }
  reactor->Finish(ToGrpc(caller.status()));
  return reactor;
}

grpc::ServerUnaryReactor* LeadershipService::HandOver(Context* context,
                                                      const wire::HandOverRequest* request,
                                                      wire::HandOverReply* /*reply*/) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const absl::StatusOr<Caller> caller = gate_.Admit(*context, kHandOver);
  LeaderLoop* const loop = loop_;
  absl::Status status = caller.status();
  if (status.ok()) {
    status = loop == nullptr
                 ? absl::FailedPreconditionError(absl::StrCat(
                       name_, " is the only controller: its store is a file; see muster store"))
                 : loop->HandOver(request->to());
  }
  reactor->Finish(ToGrpc(status));
  return reactor;
}

}  // namespace muster::daemon
