// Callers with tokens, over TLS and by the gateway's socket: what a token opens, and that nothing
// else of the connection counts beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/controller/secured_rig.h"

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TokenCallersTest : public testing::SecuredTest {
 protected:
  std::shared_ptr<grpc::Channel> GatewaySocket() const {
    return grpc::CreateChannel("unix:" + directory_ + "/gateway.sock",
                               grpc::InsecureChannelCredentials());
  }

  TokenStore::Minted Mint(const User& user, bool read_only) {
    return tokens_->Mint(user, std::chrono::hours(1), read_only).value();
  }

  // A call with these tokens in its headers.
  template <class Request, class Reply>
  static grpc::Status Ask(const std::shared_ptr<grpc::Channel>& channel,
                          const std::vector<std::string>& tokens,
                          grpc::Status (wire::Controller::Stub::*method)(grpc::ClientContext*,
                                                                         const Request&, Reply*),
                          Reply* reply, const Request& request = Request()) {
    const auto stub = wire::Controller::NewStub(channel);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + testing::kPatience);
    for (const std::string& token : tokens) {
      context.AddMetadata(kTokenMetadata, token);
    }
    return (stub.get()->*method)(&context, request, reply);
  }
  static grpc::Status Ping(const std::shared_ptr<grpc::Channel>& channel,
                           const std::vector<std::string>& tokens) {
    wire::PingReply reply;
    return Ask<wire::PingRequest>(channel, tokens, &wire::Controller::Stub::Ping, &reply);
  }

  const User self_ = UserOf(geteuid());
};

TEST_F(TokenCallersTest, ATokenOpensWhatItsUserMayCall) {
  const TokenStore::Minted made = Mint(self_, false);
  for (const auto& channel : {Channel(std::nullopt), GatewaySocket()}) {
    EXPECT_TRUE(Ping(channel, {made.token}).ok());
    wire::DrainRequest drain;
    drain.set_node("none");
    wire::DrainReply drained;
    EXPECT_EQ(
        Ask(channel, {made.token}, &wire::Controller::Stub::Drain, &drained, drain).error_code(),
        grpc::StatusCode::NOT_FOUND)
        << "admitted; there is no such node";
  }
}

TEST_F(TokenCallersTest, TheGatewaysSocketLendsNothingToACallWithoutAToken) {
  for (const auto& channel : {Channel(std::nullopt), GatewaySocket()}) {
    EXPECT_TRUE(IsRefusal(Ping(channel, {})));
    EXPECT_TRUE(IsRefusal(Ping(channel, {""})));
    EXPECT_TRUE(IsRefusal(Ping(channel, {"a.b.c"})));
    const std::string good = Mint(self_, false).token;
    EXPECT_TRUE(IsRefusal(Ping(channel, {good, good}))) << "two";
  }
  EXPECT_TRUE(IsRefusal(CallEmpty(GatewaySocket(), "/muster.wire.AgentLink/Attach")));
  EXPECT_TRUE(IsRefusal(CallEmpty(GatewaySocket(), "/muster.wire.Controller/SubmitMany")));
}

TEST_F(TokenCallersTest, ABadTokenIsNotMadeGoodByACertificate) {
  EXPECT_TRUE(Ping(Channel(Self()), {}).ok());
  EXPECT_TRUE(IsRefusal(Ping(Channel(Self()), {"a.b.c"})));
}

TEST_F(TokenCallersTest, AReadersTokenChangesNothing) {
  const TokenStore::Minted made = Mint(self_, true);
  for (const auto& channel : {Channel(std::nullopt), GatewaySocket()}) {
    EXPECT_TRUE(Ping(channel, {made.token}).ok());
    wire::CancelReply cancelled;
    EXPECT_TRUE(IsRefusal(Ask<wire::CancelRequest>(channel, {made.token},
                                                   &wire::Controller::Stub::Cancel, &cancelled)));
    wire::DrainReply drained;
    EXPECT_TRUE(IsRefusal(
        Ask<wire::DrainRequest>(channel, {made.token}, &wire::Controller::Stub::Drain, &drained)));
  }
}

TEST_F(TokenCallersTest, NoTokenMakesAnotherAndARevokedOneIsRefusedByTheNextCall) {
  const TokenStore::Minted made = Mint(self_, false);
  wire::CreateTokenReply created;
  EXPECT_TRUE(IsRefusal(Ask<wire::CreateTokenRequest>(
      GatewaySocket(), {made.token}, &wire::Controller::Stub::CreateToken, &created)));
  wire::RevokeTokenRequest revoke;
  revoke.set_id(made.grant.id);
  wire::RevokeTokenReply revoked;
  EXPECT_TRUE(
      Ask(GatewaySocket(), {made.token}, &wire::Controller::Stub::RevokeToken, &revoked, revoke)
          .ok());
  EXPECT_TRUE(IsRefusal(Ping(GatewaySocket(), {made.token})));
  EXPECT_TRUE(IsRefusal(Ping(Channel(std::nullopt), {made.token})));
}

TEST_F(TokenCallersTest, AnotherUsersTokensAreNeitherSeenNorEnded) {
  const TokenStore::Minted mine = Mint(self_, false);
  const TokenStore::Minted theirs = Mint(UserOf(65534), false);
  wire::ListTokensReply list;
  ASSERT_TRUE(Ask<wire::ListTokensRequest>(GatewaySocket(), {theirs.token},
                                           &wire::Controller::Stub::ListTokens, &list)
                  .ok());
  ASSERT_EQ(list.tokens_size(), 1);
  EXPECT_EQ(list.tokens(0).id(), theirs.grant.id);
  wire::ListTokensRequest all;
  all.set_all_users(true);
  EXPECT_TRUE(IsRefusal(
      Ask(GatewaySocket(), {theirs.token}, &wire::Controller::Stub::ListTokens, &list, all)));
  wire::RevokeTokenRequest revoke;
  revoke.set_id(mine.grant.id);
  wire::RevokeTokenReply revoked;
  EXPECT_EQ(
      Ask(GatewaySocket(), {theirs.token}, &wire::Controller::Stub::RevokeToken, &revoked, revoke)
          .error_code(),
      grpc::StatusCode::NOT_FOUND);
  EXPECT_TRUE(Ping(GatewaySocket(), {mine.token}).ok());
}

TEST_F(TokenCallersTest, ATokenIsMadeByACallAndStandsInNoLog) {
  wire::CreateTokenRequest request;
  request.set_lifetime(60'000);
  request.set_read_only(true);
  wire::CreateTokenReply created;
  ASSERT_TRUE(
      Ask(Channel(Self()), {}, &wire::Controller::Stub::CreateToken, &created, request).ok());
  EXPECT_TRUE(created.view().read_only());
  EXPECT_EQ(created.view().expires() - created.view().issued(), 60'000);
  EXPECT_TRUE(Ping(GatewaySocket(), {created.token()}).ok());
  wire::CancelReply cancelled;
  EXPECT_TRUE(IsRefusal(Ask<wire::CancelRequest>(GatewaySocket(), {created.token()},
                                                 &wire::Controller::Stub::Cancel, &cancelled)));
  EXPECT_TRUE(IsRefusal(Ping(GatewaySocket(), {created.token() + "x"})));
  EXPECT_THAT(Logged(), HasSubstr("by token " + created.view().id()));
  EXPECT_THAT(Logged(), Not(HasSubstr(created.token().substr(0, 40))));
}

}  // namespace
}  // namespace muster::daemon
