#include "cli/controller/call_channel.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "cli/controller/address.h"
#include "proto/controller.grpc.pb.h"
#include "tests/unit/cli/controller/framed_peer.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using testing::FramedAnswer;
using testing::FramedPeer;

constexpr milliseconds kTimeout{10'000}, kPatience{5'000};

class CallChannelTest : public ::testing::Test {
 protected:
  const TempDirectory directory_;
  const Address address_ = ParseAddress("unix:" + directory_ / "c.sock").value();
};

TEST_F(CallChannelTest, ACallInFramesGivesTheBytesOfItsReply) {
  const FramedPeer peer(address_.path, [](const std::string& method, const std::string& request) {
    return std::optional<std::string>(FramedAnswer(0, "", method + ":" + request));
  });
  CallChannel channel(address_, kTimeout);
  EXPECT_TRUE(channel.MayConnect());
  EXPECT_EQ(channel.Call("Submit", "one", kPatience).value(), "Submit:one");
}

TEST_F(CallChannelTest, ARefusalIsTheFirstLineOfTheController) {
  const FramedPeer peer(address_.path, [](const std::string&, const std::string&) {
    return std::optional<std::string>(FramedAnswer(5, "no such job\nsecond line", ""));
  });
  CallChannel channel(address_, kTimeout);
  const absl::Status status = channel.Call("ShowJob", "", kPatience).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_EQ(std::string(status.message()), "no such job");
}

TEST_F(CallChannelTest, WithoutASocketNobodyIsThere) {
  CallChannel channel(address_, kTimeout);
  EXPECT_FALSE(channel.MayConnect());
  const absl::Status status = channel.Call("Ping", "", kPatience).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

TEST_F(CallChannelTest, ACallThatIsNotAnsweredInTimeHasFailed) {
  const FramedPeer peer(address_.path, [](const std::string&, const std::string&) {
    return std::optional<std::string>();
  });
  CallChannel channel(address_, milliseconds(50));
  const absl::Status status = channel.Call("Ping", "", milliseconds(0)).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
}

TEST_F(CallChannelTest, ACallWhoseConnectionEndsIsMadeAgainWhileThereIsPatience) {
  int calls = 0;
  const FramedPeer peer(address_.path, [&calls](const std::string&, const std::string&) {
    return std::optional<std::string>(++calls == 1 ? "" : FramedAnswer(0, "", "done"));
  });
  CallChannel channel(address_, kTimeout);
  EXPECT_EQ(channel.Call("Submit", "one", kPatience).value(), "done");
  EXPECT_EQ(peer.connections(), 2);
}

TEST_F(CallChannelTest, WithoutPatienceABrokenCallIsNotMadeAgain) {
  const FramedPeer peer(address_.path, [](const std::string&, const std::string&) {
    return std::optional<std::string>("");
  });
  CallChannel channel(address_, kTimeout);
  EXPECT_TRUE(absl::IsUnavailable(channel.Call("Submit", "one", milliseconds(0)).status()));
  EXPECT_EQ(peer.connections(), 1);
}

TEST_F(CallChannelTest, OverTcpNothingIsOpenedWithoutKeys) {
  CallChannel channel(ParseAddress("127.0.0.1:7700").value(), kTimeout);
  EXPECT_TRUE(channel.MayConnect());
  EXPECT_TRUE(absl::IsFailedPrecondition(channel.OpenGrpc().status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(channel.OpenChannel().status()));
}

// Takes no frames.
class GrpcController final : public wire::Controller::Service {
 public:
  grpc::Status Ping(grpc::ServerContext*, const wire::PingRequest*,
                    wire::PingReply* reply) override {
    reply->set_cluster("over gRPC");
    return grpc::Status::OK;
  }
};

TEST_F(CallChannelTest, WhoTakesNoFramesIsCalledOverGrpc) {
  GrpcController controller;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_.text, grpc::InsecureServerCredentials());
  builder.RegisterService(&controller);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  {
    CallChannel channel(address_, kTimeout);
    for (int i = 0; i < 2; ++i) {
      wire::PingReply reply;
      ASSERT_TRUE(reply.ParseFromString(channel.Call("Ping", "", kPatience).value()));
      EXPECT_EQ(reply.cluster(), "over gRPC");
    }
  }
  server->Shutdown(std::chrono::system_clock::now());
}

}  // namespace
}  // namespace muster::cli
