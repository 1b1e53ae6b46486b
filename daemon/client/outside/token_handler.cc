#include "daemon/client/outside/token_handler.h"

#include <chrono>
#include <optional>

namespace muster::daemon {
namespace {

TokenView ViewOf(const TokenGrant& grant) {
  return {grant.id, grant.user.name, grant.issued, grant.expires, grant.read_only};
}

// Whose tokens the caller may end: nobody in particular for an operator, who may end any.
std::optional<uid_t> EndsTokensOf(const Caller& caller) {
  return IsOperator(caller) ? std::nullopt : std::optional<uid_t>(caller.user.uid);
}

void TakeCreateToken(TokenStore& tokens, Worker& reader, const Call<CreateToken>& call,
                     const CreateToken& asked) {
  call.Aside(reader, [&tokens, call, asked] {
    const std::chrono::milliseconds lifetime =
        asked.lifetime.count() == 0 ? std::chrono::milliseconds(TokenStore::kLifetimeDefault)
                                    : std::chrono::milliseconds(asked.lifetime);
    const absl::StatusOr<TokenStore::Minted> made =
        tokens.Mint(call.caller.user, lifetime, asked.read_only);
    call.Finish(made.status(), made.ok() ? NewToken{made->token, ViewOf(made->grant)} : NewToken());
  });
}

void AnswerListTokens(const TokenStore& tokens, const Call<ListTokens>& call,
                      const ListTokens& asked) {
  const bool may = IsOperator(call.caller) && call.caller.role != Role::kReader;
  if (asked.all_users && !may) {
    const absl::Status refused =
        absl::PermissionDeniedError("tokens of all users are for operators to see");
    call.Note(refused);
    call.Refuse(refused);
    return;
  }
  std::vector<TokenView> views;
  for (const TokenGrant& grant :
       tokens.List(asked.all_users ? std::nullopt : std::optional<uid_t>(call.caller.user.uid))) {
    views.push_back(ViewOf(grant));
  }
  call.Finish(absl::OkStatus(), views);
}

}  // namespace

void ServeTokens(Methods& methods, TokenStore* tokens, Worker& reader) {
  const auto has = [tokens](const AnyCall& call) {
    if (tokens == nullptr) {
      call.Refuse(absl::UnimplementedError("this controller makes no tokens"));
    }
    return tokens != nullptr;
  };
  methods.Serve<CreateToken>(
      [has, tokens, &reader](const Call<CreateToken>& call, const CreateToken& asked) {
        if (has(call)) {
          TakeCreateToken(*tokens, reader, call, asked);
        }
      });
  methods.Serve<ListTokens>([has, tokens](const Call<ListTokens>& call, const ListTokens& asked) {
    if (has(call)) {
      AnswerListTokens(*tokens, call, asked);
    }
  });
  methods.Serve<RevokeToken>(
      [has, tokens, &reader](const Call<RevokeToken>& call, const RevokeToken& asked) {
        if (has(call)) {
          call.Aside(reader, [tokens, call, asked] {
            call.Finish(tokens->Revoke(asked.id, EndsTokensOf(call.caller)));
          });
        }
      });
}

}  // namespace muster::daemon
