#include "daemon/gateway/link/controller_link.h"

#include <gtest/gtest.h>

#include <future>
#include <utility>

#include "proto/controller.grpc.pb.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

constexpr std::chrono::seconds kPatience{20};

// Answers with the token that came along; one method hangs.
class Echo final : public wire::Controller::Service {
 public:
  grpc::Status Ping(grpc::ServerContext* context, const wire::PingRequest*,
                    wire::PingReply* reply) override {
    const auto& metadata = context->client_metadata();
    const auto token = metadata.find("muster-token");
    reply->set_cluster(
        token == metadata.end() ? "none" : std::string(token->second.data(), token->second.size()));
    return grpc::Status::OK;
  }
  grpc::Status ListPolicy(grpc::ServerContext* context, const wire::ListPolicyRequest*,
                          wire::ListPolicyReply*) override {
    while (!context->IsCancelled()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return grpc::Status::CANCELLED;
  }
  grpc::Status ShowJob(grpc::ServerContext*, const wire::ShowJobRequest*,
                       wire::ShowJobReply*) override {
    return {grpc::StatusCode::NOT_FOUND, "no such job"};
  }
};

class ControllerLinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string address = "unix:" + (directory_ / "socket");
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(&echo_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    link_ = ControllerLink::Open(address, "").value();
  }
  void TearDown() override {
    link_.reset();
    server_->Shutdown(std::chrono::system_clock::now());
  }

  template <class Request>
  std::pair<grpc::Status, std::unique_ptr<google::protobuf::Message>> Call(
      const std::string& method, const Request& request, const std::string& token) {
    using Answer = std::pair<grpc::Status, std::unique_ptr<google::protobuf::Message>>;
    auto promise = std::make_shared<std::promise<Answer>>();
    std::future<Answer> future = promise->get_future();
    link_->Call(*ControllerLink::FindMethod(method), request, token,
                [promise](const grpc::Status& status, auto reply) {
                  promise->set_value({status, std::move(reply)});
                });
    EXPECT_EQ(future.wait_for(kPatience), std::future_status::ready);
    return future.get();
  }

  const TempDirectory directory_;
  Echo echo_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<ControllerLink> link_;
};

TEST_F(ControllerLinkTest, TheCallersTokenGoesAlongAndACallWithoutOneIsNotMade) {
  const auto [status, reply] = Call("Ping", wire::PingRequest(), "a.b.c");
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(dynamic_cast<const wire::PingReply&>(*reply).cluster(), "a.b.c");
  EXPECT_EQ(Call("Ping", wire::PingRequest(), "").first.error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(ControllerLinkTest, AnErrorComesAsTheControllerSaidIt) {
  const auto [status, reply] = Call("ShowJob", wire::ShowJobRequest(), "t");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "no such job");
  EXPECT_EQ(reply, nullptr);
}

TEST_F(ControllerLinkTest, CloseEndsWhatHangs) {
  std::promise<grpc::Status> hung;
  link_->Call(*ControllerLink::FindMethod("ListPolicy"), wire::ListPolicyRequest(), "t",
              [&hung](const grpc::Status& status, const auto&) { hung.set_value(status); });
  link_->Close();
  EXPECT_FALSE(hung.get_future().get().ok());
  EXPECT_EQ(Call("Ping", wire::PingRequest(), "t").first.error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ControllerLinkTest, OverTcpItMustBeToldWhomToTrust) {
  EXPECT_TRUE(absl::IsInvalidArgument(ControllerLink::Open("127.0.0.1:1", "").status()));
}

}  // namespace
}  // namespace muster::daemon
