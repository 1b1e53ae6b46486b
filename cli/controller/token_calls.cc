#include "cli/controller/token_calls.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "cli/controller/channel.h"
#include "cli/controller/connection.h"
#include "proto/controller.grpc.pb.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

using TokenStub = wire::Controller::Stub;

constexpr std::chrono::seconds kTokenCallTimeout{30};

TokenInfo InfoOf(const wire::TokenView& view) {
  return {view.id(), view.user(), Time(Duration(view.issued())), Time(Duration(view.expires())),
          view.read_only()};
}

template <class Request, class Reply>
absl::Status CallOnce(const Address& address,
                      grpc::Status (TokenStub::*method)(grpc::ClientContext*, const Request&,
                                                        Reply*),
                      const Request& request, Reply* reply) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  RETURN_IF_ERROR(connection->Ping().status());
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, OpenChannel(address));
  const auto stub = wire::Controller::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kTokenCallTimeout);
  context.set_wait_for_ready(true);
  const grpc::Status status = (stub.get()->*method)(&context, request, reply);
  return status.ok() ? absl::OkStatus() : Refusal(status);
}

}  // namespace

absl::StatusOr<NewToken> CreateToken(const Address& address, Duration lifetime, bool read_only) {
  wire::CreateTokenRequest request;
  request.set_lifetime(lifetime.count());
  request.set_read_only(read_only);
  wire::CreateTokenReply reply;
  RETURN_IF_ERROR(CallOnce(address, &TokenStub::CreateToken, request, &reply));
  return NewToken{reply.token(), InfoOf(reply.view())};
}

absl::StatusOr<std::vector<TokenInfo>> ListTokens(const Address& address, bool all_users) {
  wire::ListTokensRequest request;
  request.set_all_users(all_users);
  wire::ListTokensReply reply;
  RETURN_IF_ERROR(CallOnce(address, &TokenStub::ListTokens, request, &reply));
  std::vector<TokenInfo> tokens;
  for (const wire::TokenView& view : reply.tokens()) {
    tokens.push_back(InfoOf(view));
  }
  return tokens;
}

absl::Status RevokeToken(const Address& address, const std::string& id) {
  wire::RevokeTokenRequest request;
  request.set_id(id);
  wire::RevokeTokenReply reply;
  return CallOnce(address, &TokenStub::RevokeToken, request, &reply);
}

}  // namespace muster::cli
