#include "cli/controller/controllers.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "cli/controller/address.h"
#include "proto/controller.grpc.pb.h"
#include "proto/leadership.grpc.pb.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{10'000};

class NamedController final : public wire::Controller::Service {
 public:
  explicit NamedController(std::string name) : name_(std::move(name)) {}
  grpc::Status Ping(grpc::ServerContext*, const wire::PingRequest*,
                    wire::PingReply* reply) override {
    reply->set_cluster(name_);
    return grpc::Status::OK;
  }

 private:
  const std::string name_;
};

class OwnStatus final : public wire::Leadership::Service {
 public:
  explicit OwnStatus(const std::atomic<bool>& leads) : leads_(leads) {}
  grpc::Status ReadControllerStatus(grpc::ServerContext*, const wire::ReadControllerStatusRequest*,
                                    wire::ReadControllerStatusReply* reply) override {
    reply->set_leads(leads_);
    return grpc::Status::OK;
  }

 private:
  const std::atomic<bool>& leads_;
};

// One of a cluster's controllers, behind a socket.
struct Member {
  Member(const std::string& address, const std::string& name) : controller(name) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(&controller);
    builder.RegisterService(&status);
    server = builder.BuildAndStart();
    EXPECT_NE(server, nullptr);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member() { server->Shutdown(std::chrono::system_clock::now()); }

  std::atomic<bool> leads = false;
  NamedController controller;
  OwnStatus status{leads};
  std::unique_ptr<grpc::Server> server;
};

class ControllersTest : public ::testing::Test {
 protected:
  // As if both were named, by a comma.
  [[nodiscard]] Address Both() const {
    Address both = ParseAddress(first_).value();
    both.text = first_ + "," + second_;
    return both;
  }
  static std::string WhoAnswers(Controllers& controllers) {
    const absl::StatusOr<std::string> bytes = controllers.Call("Ping", "", true, kPatience);
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    wire::PingReply reply;
    EXPECT_TRUE(reply.ParseFromString(bytes.value_or("")));
    return reply.cluster();
  }

  const TempDirectory directory_;
  const std::string first_ = "unix:" + directory_ / "first.sock";
  const std::string second_ = "unix:" + directory_ / "second.sock";
};

TEST_F(ControllersTest, OneControllerIsCalledWhetherItLeadsOrNot) {
  const Member first(first_, "first");
  Controllers controllers(ParseAddress(first_).value());
  ASSERT_TRUE(controllers.Open().ok());
  EXPECT_EQ(WhoAnswers(controllers), "first");
}

TEST_F(ControllersTest, OfSeveralTheOneThatLeadsIsCalled) {
  const Member first(first_, "first");
  Member second(second_, "second");
  second.leads = true;
  Controllers controllers(Both());
  ASSERT_TRUE(controllers.Open().ok());
  EXPECT_EQ(WhoAnswers(controllers), "second");
}

TEST_F(ControllersTest, AStandbyIsCalledWhenTheOtherIsGone) {
  const Member second(second_, "second");
  Controllers controllers(Both());
  EXPECT_EQ(WhoAnswers(controllers), "second");
}

TEST_F(ControllersTest, AStreamIsOpenedToWhoeverLeadsNow) {
  Member first(first_, "first");
  Member second(second_, "second");
  first.leads = true;
  Controllers controllers(Both());
  EXPECT_EQ(WhoAnswers(controllers), "first");
  first.leads = false;
  second.leads = true;
  wire::PingReply reply;
  ASSERT_TRUE(reply.ParseFromString(controllers.Leader().Call("Ping", "", kPatience).value()));
  EXPECT_EQ(reply.cluster(), "second");
}

TEST_F(ControllersTest, OverTcpNothingIsOpenedWithoutKeys) {
  Controllers controllers(ParseAddress("127.0.0.1:7700").value());
  EXPECT_TRUE(absl::IsFailedPrecondition(controllers.Open()));
}

}  // namespace
}  // namespace muster::cli
