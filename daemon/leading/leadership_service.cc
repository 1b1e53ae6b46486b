#include "daemon/leading/leadership_service.h"

#include "absl/strings/str_cat.h"
#include "daemon/access/rpc.h"

namespace muster::daemon {
namespace {

constexpr const char* kReadStanding = "/muster.wire.Leadership/ReadStanding";
constexpr const char* kHandOver = "/muster.wire.Leadership/HandOver";

}  // namespace

grpc::ServerUnaryReactor* LeadershipService::ReadStanding(
    Context* context, const wire::ReadStandingRequest* /*request*/,
    wire::ReadStandingReply* reply) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const absl::StatusOr<Caller> caller = gate_.Admit(*context, kReadStanding);
  if (caller.ok()) {
    const LeaderLoop* const loop = loop_;
    const Standing standing =
        loop != nullptr ? loop->standing()
                        : Standing{name_, controller_.leads(), controller_.leads() ? name_ : "", "",
                                   std::chrono::milliseconds(0)};
    reply->set_name(standing.name);
    reply->set_leads(standing.leads);
    reply->set_leader(standing.leader);
    reply->set_leader_addresses(standing.leader_addresses);
    reply->set_epoch(controller_.epoch().value());
    reply->set_version(controller_.followed().value());
    reply->set_age(static_cast<std::uint64_t>(standing.age.count()));
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
