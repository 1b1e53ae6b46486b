#include "daemon/client/framed_calls.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

  // What a stream's client got, who takes each message at once.
  class Client final : public FramedDoor::Outlet {
   public:
    void Send(const std::string& message, std::function<void(bool ok)> taken) override {
      wire::WatchJobReply reply;
      EXPECT_TRUE(reply.ParseFromString(message));
      const MutexLock lock(&mutex_);
      states_.push_back(reply.job().state());
      pending_.emplace_back([taken = std::move(taken)] { taken(true); });
    }
    void End(std::uint32_t code, const std::string& /*text*/, std::function<void()> done) override {
      const MutexLock lock(&mutex_);
      code_ = code;
      pending_.push_back(std::move(done));
    }
    void WhenGone(std::function<void()> gone) override { gone_ = std::move(gone); }

    // As the door's thread does, until the stream has `messages` or has ended.
    void Turn(std::size_t messages) {
      const auto until = std::chrono::steady_clock::now() + testing::kPatience;
      while (std::chrono::steady_clock::now() < until) {
        std::vector<std::function<void()>> now;
        {
          const MutexLock lock(&mutex_);
          now.swap(pending_);
        }
        for (const std::function<void()>& each : now) {
          each();
        }
        const MutexLock lock(&mutex_);
        if (pending_.empty() && (code_.has_value() || states_.size() >= messages)) {
          return;
        }
      }
      ADD_FAILURE() << "no such news came";
    }
    void Go() { gone_(); }
    std::vector<std::string> states() {
      const MutexLock lock(&mutex_);
      return states_;
    }
    std::optional<std::uint32_t> code() {
      const MutexLock lock(&mutex_);
      return code_;
    }

   private:
    Mutex mutex_;
    std::vector<std::string> states_ ABSL_GUARDED_BY(mutex_);
    std::optional<std::uint32_t> code_ ABSL_GUARDED_BY(mutex_);
    std::vector<std::function<void()>> pending_ ABSL_GUARDED_BY(mutex_);
    std::function<void()> gone_;
  };
  std::shared_ptr<Client> Watch(JobId job) {
    auto client = std::make_shared<Client>();
    wire::WatchJobRequest request;
    request.set_job(job.value());
    EXPECT_TRUE(StreamsFor(*service_)("WatchJob", request.SerializeAsString(), client));
    return client;
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

TEST_F(FramedCallsTest, AJobIsWatchedInFramesUntilItHasEnded) {
  const JobId job = Submit("one");
  const std::shared_ptr<Client> client = Watch(job);
  client->Turn(1);
  EXPECT_EQ(client->states().front(), "PENDING");
  CancelJob cancel;
  cancel.job = job;
  cancel.by = User{1000, 1000, "someone"};
  EXPECT_TRUE(Take(cancel).second.ok());
  client->Turn(SIZE_MAX);
  EXPECT_EQ(client->states().back(), "CANCELLED");
  EXPECT_EQ(client->code(), 0U);
}

TEST_F(FramedCallsTest, AWatchOfNoJobEndsWithItsCode) {
  const std::shared_ptr<Client> client = Watch(JobId(77));
  client->Turn(1);
  EXPECT_EQ(client->code(), static_cast<std::uint32_t>(grpc::StatusCode::NOT_FOUND));
  EXPECT_TRUE(client->states().empty());
}

TEST_F(FramedCallsTest, AWatcherThatGoesEndsItsWatch) {
  const std::shared_ptr<Client> client = Watch(Submit("one"));
  client->Turn(1);
  client->Go();
  client->Turn(SIZE_MAX);
  EXPECT_EQ(client->code(), static_cast<std::uint32_t>(grpc::StatusCode::CANCELLED));
}

TEST_F(FramedCallsTest, OnlyJobsAreWatchedInFrames) {
  const auto client = std::make_shared<Client>();
  EXPECT_FALSE(StreamsFor(*service_)("WatchEvents", "", client));
  EXPECT_FALSE(StreamsFor(*service_)("Ping", "", client));
  EXPECT_TRUE(StreamsFor(*service_)("WatchJob", "\x01", client));
  client->Turn(1);
  EXPECT_EQ(client->code(), static_cast<std::uint32_t>(grpc::StatusCode::INVALID_ARGUMENT));
}

}  // namespace
}  // namespace muster::daemon
