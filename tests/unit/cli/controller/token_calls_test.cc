#include "cli/controller/token_calls.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "proto/controller.grpc.pb.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using testing::HasSubstr;

// One that makes a token of what it was asked for.
class TokenMaker final : public wire::Controller::Service {
 public:
  grpc::Status Ping(grpc::ServerContext*, const wire::PingRequest*, wire::PingReply*) override {
    return grpc::Status::OK;
  }
  grpc::Status CreateToken(grpc::ServerContext*, const wire::CreateTokenRequest* request,
                           wire::CreateTokenReply* reply) override {
    if (request->lifetime() == 5) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "too short\nand more"};
    }
    reply->set_token("a.b.c");
    reply->mutable_view()->set_id("x");
    reply->mutable_view()->set_expires(request->lifetime());
    reply->mutable_view()->set_read_only(request->read_only());
    return grpc::Status::OK;
  }
  grpc::Status ListTokens(grpc::ServerContext*, const wire::ListTokensRequest* request,
                          wire::ListTokensReply* reply) override {
    reply->add_tokens()->set_user(request->all_users() ? "all" : "mine");
    return grpc::Status::OK;
  }
  grpc::Status RevokeToken(grpc::ServerContext*, const wire::RevokeTokenRequest* request,
                           wire::RevokeTokenReply*) override {
    return request->id() == "x" ? grpc::Status::OK
                                : grpc::Status(grpc::StatusCode::NOT_FOUND, "no token");
  }
};

class TokenCallsTest : public testing::Test {
 protected:
  void SetUp() override {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_.text, grpc::InsecureServerCredentials());
    builder.RegisterService(&maker_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }

  const TempDirectory directory_;
  const Address address_ = ParseAddress("unix:" + (directory_ / "socket")).value();
  TokenMaker maker_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(TokenCallsTest, ATokenComesWithWhatItMay) {
  const NewToken made = CreateToken(address_, std::chrono::hours(1), true).value();
  EXPECT_EQ(made.token, "a.b.c");
  EXPECT_EQ(made.info.id, "x");
  EXPECT_EQ(made.info.expires.time_since_epoch(), std::chrono::hours(1));
  EXPECT_TRUE(made.info.read_only);
  EXPECT_EQ(ListTokens(address_, false).value().at(0).user, "mine");
  EXPECT_EQ(ListTokens(address_, true).value().at(0).user, "all");
  EXPECT_TRUE(RevokeToken(address_, "x").ok());
}

TEST_F(TokenCallsTest, ARefusalIsOneLineAndNoBadUsage) {
  const absl::Status refused = CreateToken(address_, Duration(5), false).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_EQ(refused.message(), "too short");
  EXPECT_TRUE(absl::IsNotFound(RevokeToken(address_, "y")));
  server_.reset();
  EXPECT_FALSE(ListTokens(address_, false).ok());
}

}  // namespace
}  // namespace muster::cli
