#include "daemon/gateway/link/controller_link.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "proto/controller.grpc.pb.h"
#include "proto/leadership.grpc.pb.h"
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

// What held the connection last was a thread of gRPC's, now and then: the process ended.
TEST_F(ControllerLinkTest, NoCallHoldsTheConnectionOnceTheLinkIsClosed) {
  for (int turn = 0; turn < 500; ++turn) {
    ASSERT_TRUE(Call("Ping", wire::PingRequest(), "t").first.ok());
    link_.reset();
    link_ = ControllerLink::Open("unix:" + (directory_ / "socket"), "").value();
  }
}

// A controller that leads or does not, and counts what it was asked.
class Sibling final : public wire::Controller::Service, public wire::Leadership::Service {
 public:
  explicit Sibling(const std::string& address) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(static_cast<wire::Controller::Service*>(this));
    builder.RegisterService(static_cast<wire::Leadership::Service*>(this));
    server_ = builder.BuildAndStart();
  }
  ~Sibling() override { server_->Shutdown(std::chrono::system_clock::now()); }
  Sibling(const Sibling&) = delete;
  Sibling& operator=(const Sibling&) = delete;

  grpc::Status ReadControllerStatus(grpc::ServerContext*, const wire::ReadControllerStatusRequest*,
                                    wire::ReadControllerStatusReply* reply) override {
    reply->set_leads(leads);
    return grpc::Status::OK;
  }
  grpc::Status Submit(grpc::ServerContext*, const wire::SubmitRequest* request,
                      wire::SubmitReply* reply) override {
    tokens.push_back(request->token());
    reply->set_job(7);
    return leads && !forgets
               ? grpc::Status::OK
               : grpc::Status(grpc::StatusCode::UNAVAILABLE, "a standby", "controller");
  }
  grpc::Status CreateToken(grpc::ServerContext*, const wire::CreateTokenRequest*,
                           wire::CreateTokenReply*) override {
    ++made;
    return {grpc::StatusCode::UNAVAILABLE, "the connection broke"};
  }
  grpc::Status WatchEvents(grpc::ServerContext*, const wire::WatchEventsRequest*,
                           grpc::ServerWriter<wire::WatchEventsReply>* writer) override {
    wire::WatchEventsReply reply;
    reply.set_next(leads ? 1 : 2);
    writer->Write(reply);
    return {grpc::StatusCode::UNAVAILABLE, "leads no more"};
  }

  std::atomic<bool> leads = false;
  std::atomic<bool> forgets = false;  // that it leads: it was deposed just now
  std::vector<std::string> tokens;
  std::atomic<int> made = 0;

 private:
  std::unique_ptr<grpc::Server> server_;
};

class SeveralControllersTest : public ControllerLinkTest {
 protected:
  void SetUp() override {
    ControllerLinkTest::SetUp();
    const std::string a = "unix:" + (directory_ / "a");
    const std::string b = "unix:" + (directory_ / "b");
    a_ = std::make_unique<Sibling>(a);
    b_ = std::make_unique<Sibling>(b);
    link_ = ControllerLink::Open(a + "," + b + ",unix:" + (directory_ / "nobody"), "").value();
  }
  std::uint64_t FirstEvent() {
    std::promise<std::uint64_t> next;
    std::promise<void> ended;
    (void)link_->Watch(
        wire::WatchEventsRequest(), "t",
        {[&next](const wire::WatchEventsReply& reply, const std::function<void()>& more) {
           next.set_value(reply.next());
           more();
         },
         [&ended](const grpc::Status&) { ended.set_value(); }});
    EXPECT_EQ(ended.get_future().wait_for(kPatience), std::future_status::ready);
    return next.get_future().get();
  }
  std::unique_ptr<Sibling> a_;
  std::unique_ptr<Sibling> b_;
};

TEST_F(SeveralControllersTest, TheOneThatLeadsIsCalledAndTheNextWithTheSameToken) {
  b_->leads = true;
  EXPECT_TRUE(Call("Submit", wire::SubmitRequest(), "t").first.ok());
  EXPECT_TRUE(a_->tokens.empty());
  b_->forgets = true;
  std::thread election([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    b_->leads = false;
    a_->leads = true;
  });
  EXPECT_TRUE(Call("Submit", wire::SubmitRequest(), "t").first.ok());
  election.join();
  ASSERT_EQ(a_->tokens.size(), 1U);
  EXPECT_EQ(a_->tokens.back(), b_->tokens.back());
  EXPECT_NE(b_->tokens.front(), b_->tokens.back());
  EXPECT_FALSE(a_->tokens.back().empty());
}

TEST_F(SeveralControllersTest, WhatMayHaveBeenDoneAndHasNoTokenIsNotRepeated) {
  a_->leads = true;
  EXPECT_EQ(Call("CreateToken", wire::CreateTokenRequest(), "t").first.error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(a_->made + b_->made, 1);
}

TEST_F(SeveralControllersTest, EventsComeFromTheOneThatLeads) {
  b_->leads = true;
  EXPECT_EQ(FirstEvent(), 1U);
  b_->leads = false;
  a_->leads = true;
  EXPECT_EQ(FirstEvent(), 1U) << "a stream that ended so says that another may lead";
}

TEST_F(SeveralControllersTest, CloseEndsACallThatWaitsForALeader) {
  std::promise<grpc::Status> waits;
  link_->Call(*ControllerLink::FindMethod("Submit"), wire::SubmitRequest(), "t",
              [&waits](const grpc::Status& status, const auto&) { waits.set_value(status); });
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  link_->Close();
  EXPECT_FALSE(waits.get_future().get().ok());
}

TEST_F(ControllerLinkTest, OverTcpItMustBeToldWhomToTrust) {
  EXPECT_TRUE(absl::IsInvalidArgument(ControllerLink::Open("127.0.0.1:1", "").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ControllerLink::Open("unix:/a,127.0.0.1:1", "").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ControllerLink::Open("unix:/a,,unix:/b", "").status()));
}

}  // namespace
}  // namespace muster::daemon
