#include "daemon/gateway/link/controller_link.h"

#include <gtest/gtest.h>

#include <future>

#include "proto/controller.grpc.pb.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

constexpr std::chrono::seconds kPatience{20};

// Answers with the token that came along; one method hangs, one streams for ever.
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
  grpc::Status WatchJob(grpc::ServerContext* context, const wire::WatchJobRequest* request,
                        grpc::ServerWriter<wire::WatchJobReply>* writer) override {
    wire::WatchJobReply reply;
    for (std::uint64_t i = 1;
         !context->IsCancelled() && (request->job() == 0 || i <= request->job()); ++i) {
      reply.mutable_job()->set_id(i);
      if (!writer->Write(reply)) {
        break;
      }
    }
    return grpc::Status::OK;
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

TEST_F(ControllerLinkTest, AStreamGivesOneAnswerForEachNext) {
  std::vector<std::uint64_t> seen;
  std::promise<void> ended;
  std::shared_ptr<ControllerLink::Stream> stream;
  std::promise<void> made;
  std::shared_future<void> is_made = made.get_future().share();
  wire::WatchJobRequest request;
  request.set_job(100);
  stream = link_->Follow(
      *ControllerLink::FindMethod("WatchJob"), request, "t",
      {[&](std::unique_ptr<google::protobuf::Message> message) {
         seen.push_back(dynamic_cast<const wire::WatchJobReply&>(*message).job().id());
         is_made.wait();
         stream->Next();
       },
       [&](const grpc::Status& status) {
         EXPECT_TRUE(status.ok()) << status.error_message();
         ended.set_value();
       }});
  made.set_value();
  ASSERT_EQ(ended.get_future().wait_for(kPatience), std::future_status::ready);
  ASSERT_EQ(seen.size(), 100U);
  EXPECT_EQ(seen.back(), 100U);
}

TEST_F(ControllerLinkTest, CloseEndsWhatHangsAndWhatNobodyReads) {
  std::promise<grpc::Status> hung;
  link_->Call(*ControllerLink::FindMethod("ListPolicy"), wire::ListPolicyRequest(), "t",
              [&hung](const grpc::Status& status, const auto&) { hung.set_value(status); });
  std::promise<void> taken;
  std::promise<grpc::Status> unread;
  const auto stream =
      link_->Follow(*ControllerLink::FindMethod("WatchJob"), wire::WatchJobRequest(), "t",
                    {[&taken](const auto&) { taken.set_value(); },
                     [&unread](const grpc::Status& status) { unread.set_value(status); }});
  taken.get_future().wait();  // and no Next
  link_->Close();
  EXPECT_FALSE(hung.get_future().get().ok());
  EXPECT_FALSE(unread.get_future().get().ok());
  EXPECT_EQ(Call("Ping", wire::PingRequest(), "t").first.error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ControllerLinkTest, OverTcpItMustBeToldWhomToTrust) {
  EXPECT_TRUE(absl::IsInvalidArgument(ControllerLink::Open("127.0.0.1:1", "").status()));
}

}  // namespace
}  // namespace muster::daemon
