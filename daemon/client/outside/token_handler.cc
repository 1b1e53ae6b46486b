#include "daemon/client/outside/token_handler.h"

#include <chrono>
#include <optional>

#include "daemon/access/rpc.h"

namespace muster::daemon {
namespace {

void Show(const TokenGrant& grant, wire::TokenView* view) {
  view->set_id(grant.id);
  view->set_user(grant.user.name);
  view->set_issued(grant.issued.time_since_epoch().count());
  view->set_expires(grant.expires.time_since_epoch().count());
  view->set_read_only(grant.read_only);
}

}  // namespace

bool TokenHandler::Has(const Call& call) const {
  if (tokens_ == nullptr) {
    call.Finish(absl::UnimplementedError("this controller makes no tokens"));
  }
  return tokens_ != nullptr;
}

void TokenHandler::CreateToken(const Call& call, const wire::CreateTokenRequest& request,
                               wire::CreateTokenReply* reply) {
  if (!Has(call)) {
    return;
  }
  const std::chrono::milliseconds lifetime =
      request.lifetime() == 0 ? std::chrono::milliseconds(TokenBook::kLifetimeDefault)
                              : std::chrono::milliseconds(request.lifetime());
  ReadAside(reader_, call.reactor, [this, call, lifetime, read_only = request.read_only(), reply] {
    const absl::StatusOr<TokenBook::Minted> made =
        tokens_->Mint(call.caller.user, lifetime, read_only);
    if (made.ok()) {
      reply->set_token(made->token);
      Show(made->grant, reply->mutable_view());
    }
    call.Finish(made.status());
  });
}

void TokenHandler::ListTokens(const Call& call, const wire::ListTokensRequest& request,
                              wire::ListTokensReply* reply) {
  if (!Has(call)) {
    return;
  }
  const bool may = IsOperator(call.caller) && call.caller.role != Role::kReader;
  if (request.all_users() && !may) {
    const absl::Status refused =
        absl::PermissionDeniedError("tokens of all users are for operators to see");
    call.Note(refused);
    call.Finish(refused);
    return;
  }
  for (const TokenGrant& grant : tokens_->List(
           request.all_users() ? std::nullopt : std::optional<uid_t>(call.caller.user.uid))) {
    Show(grant, reply->add_tokens());
  }
  call.Finish(absl::OkStatus());
}

void TokenHandler::RevokeToken(const Call& call, const wire::RevokeTokenRequest& request,
                               wire::RevokeTokenReply* /*reply*/) {
  if (!Has(call)) {
    return;
  }
  ReadAside(reader_, call.reactor, [this, call, id = request.id()] {
    call.Finish(tokens_->Revoke(
        id, IsOperator(call.caller) ? std::nullopt : std::optional<uid_t>(call.caller.user.uid)));
  });
}

}  // namespace muster::daemon
