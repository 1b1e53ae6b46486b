// The methods of the client service that change and show policy.

#include <set>
#include <utility>
#include <vector>

#include "daemon/client/client_service.h"
#include "daemon/client/policy_views.h"
#include "proto/convert/convert.h"

namespace muster {
namespace {

constexpr std::uint32_t kHistoryDefault = 100;
constexpr std::uint32_t kHistoryMax = 100'000;
constexpr PolicyKind kAllKinds[] = {PolicyKind::kPartition, PolicyKind::kQos, PolicyKind::kAccount,
                                    PolicyKind::kAssociation, PolicyKind::kReservation};

template <class Kinds>
std::set<PolicyKind> Wanted(const Kinds& kinds) {
  std::set<PolicyKind> wanted;
  for (const int kind : kinds) {
    wanted.insert(static_cast<PolicyKind>(kind));
  }
  if (wanted.empty()) {
    wanted.insert(std::begin(kAllKinds), std::end(kAllKinds));
  }
  return wanted;
}

absl::StatusOr<muster::ChangePolicy> ReadChange(const wire::ChangePolicyRequest& request) {
  if (!wire::PolicyVerb_IsValid(request.verb()) || !wire::PolicyKind_IsValid(request.kind())) {
    return absl::InvalidArgumentError("unknown verb or kind; update musterd");
  }
  muster::ChangePolicy input;
  input.verb = static_cast<PolicyVerb>(request.verb());
  input.kind = static_cast<PolicyKind>(request.kind());
  input.name = request.name();
  for (const wire::Assignment& assignment : request.assignments()) {
    input.assignments.push_back(Assignment{assignment.key(), assignment.value()});
  }
  return input;
}

}  // namespace

ClientService::Unary* ClientService::ChangePolicy(Context* context,
                                                  const wire::ChangePolicyRequest* request,
                                                  wire::ChangePolicyReply*) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "ChangePolicy", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  absl::StatusOr<muster::ChangePolicy> input = ReadChange(*request);
  if (!input.ok()) {
    reactor->Finish(ToGrpc(input.status()));
    return reactor;
  }
  input->by = caller->user;
  controller_.Take(*std::move(input), [reactor](const Turn&, const absl::Status& status) {
    reactor->Finish(ToGrpc(status));
  });
  return reactor;
}

ClientService::Unary* ClientService::ListPolicy(Context* context,
                                                const wire::ListPolicyRequest* request,
                                                wire::ListPolicyReply* reply) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "ListPolicy", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  controller_.Look([reactor, reply,
                    kinds = Wanted(request->kinds())](const Picture& picture) -> Controller::Reply {
    for (const PolicyKind kind : kinds) {
      for (const PolicyView& view : PolicyViewsOf(picture.state(), kind, picture.now())) {
        ToWire(view, reply->add_objects());
      }
    }
    return [reactor](const absl::Status& status) { reactor->Finish(ToGrpc(status)); };
  });
  return reactor;
}

ClientService::Unary* ClientService::PolicyHistory(Context* context,
                                                   const wire::PolicyHistoryRequest* request,
                                                   wire::PolicyHistoryReply* reply) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "PolicyHistory", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  const std::uint32_t limit = request->limit() == 0 ? kHistoryDefault : request->limit();
  ReadAside(
      reader_, reactor,
      [this, reactor, reply, limit, name = request->name(), kinds = Wanted(request->kinds())] {
        const absl::StatusOr<std::vector<PolicyChanged>> changes =
            store_.ReadPolicyHistory(kHistoryMax);
        if (!changes.ok()) {
          reactor->Finish(ToGrpc(changes.status()));
          return;
        }
        for (const PolicyChanged& change : *changes) {
          const bool wanted = kinds.contains(KindOf(change.object)) &&
                              (name.empty() || NameOf(change.object) == name);
          if (wanted && static_cast<std::uint32_t>(reply->changes_size()) < limit) {
            ToWire(muster::ViewOf(change), reply->add_changes());
          }
        }
        reactor->Finish(grpc::Status::OK);
      });
  return reactor;
}

}  // namespace muster
