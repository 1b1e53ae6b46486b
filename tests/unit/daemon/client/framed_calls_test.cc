#include "daemon/client/framed_calls.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "daemon/access/local_context.h"
#include "proto/controller.pb.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

TEST(LocalContext, IsTheOwnersWithoutATokenOrACredential) {
  const SystemClock clock;
  const Logger log(clock, STDERR_FILENO, LogLevel::kError, false);
  const Gate gate(log, "", nullptr, 0);
  LocalContext context;
  const absl::StatusOr<Caller> caller = gate.Admit(context, "/muster.wire.Controller/Ping");
  ASSERT_TRUE(caller.ok()) << caller.status();
  EXPECT_EQ(caller->role, Role::kOwner);
  EXPECT_EQ(caller->user.uid, geteuid());
  EXPECT_EQ(caller->peer, "unix:");
}

class FramedCallsTest : public testing::ControllerTest {
 protected:
  struct Answered {
    std::uint32_t code = 0;
    std::string text;
    std::string reply;
  };

  void SetUp() override {
    ControllerTest::SetUp();
    auto accounting = Accounting::Open(*store_);
    ASSERT_TRUE(accounting.ok()) << accounting.status();
    accounting_ = *std::move(accounting);
    service_ = std::make_unique<ClientService>(*controller_, *accounting_, *store_,
                                               ClientService::Setting{"here", gate_, usage_});
  }
  void TearDown() override {
    LiveJobs();  // what answered the calls before has finished
    service_.reset();
    accounting_.reset();
    ControllerTest::TearDown();
  }

  Answered Call(const std::string& method, const std::string& request) {
    const auto answered = std::make_shared<std::promise<Answered>>();
    std::future<Answered> future = answered->get_future();
    FramesFor (*service_)(method, request,
                          [answered](std::uint32_t code, std::string text, std::string reply) {
                            answered->set_value({code, std::move(text), std::move(reply)});
                          });
    if (future.wait_for(testing::kPatience) != std::future_status::ready) {
      ADD_FAILURE() << method << " was not answered";
      return {};
    }
    return future.get();
  }

  const Gate gate_{log_, "", nullptr, 0};
  const LiveUsage usage_;
  std::unique_ptr<Accounting> accounting_;
  std::unique_ptr<ClientService> service_;
};

TEST_F(FramedCallsTest, ACallInFramesIsServedAsOneOverGrpc) {
  const Answered answer = Call("Ping", "");
  ASSERT_EQ(answer.code, 0U) << answer.text;
  wire::PingReply reply;
  ASSERT_TRUE(reply.ParseFromString(answer.reply));
  EXPECT_EQ(reply.cluster(), "here");
}

TEST_F(FramedCallsTest, ARefusalHasItsCodeAndNoReply) {
  wire::ShowJobRequest request;
  request.mutable_job()->set_job(77);
  const Answered answer = Call("ShowJob", request.SerializeAsString());
  EXPECT_EQ(answer.code, static_cast<std::uint32_t>(grpc::StatusCode::NOT_FOUND)) << answer.text;
  EXPECT_NE(answer.text, "");
  EXPECT_EQ(answer.reply, "");
}

TEST_F(FramedCallsTest, ThereIsNoMethodOfAnotherNameAndNoStream) {
  for (const char* method : {"NoSuchMethod", "WatchJob", ""}) {
    EXPECT_EQ(Call(method, "").code, static_cast<std::uint32_t>(grpc::StatusCode::UNIMPLEMENTED))
        << method;
  }
}

}  // namespace
}  // namespace muster::daemon
