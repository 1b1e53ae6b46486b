#include "agent/attempts/control_call.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/supervisor/attempt/control_packet.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "tests/unit/agent/supervisor/control_client.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;

class ControlCallTest : public ::testing::Test {
 protected:
  ControlCallTest() : loop_(EventLoop::Create().value()), path_(temp_ / "control") {
    loop_->RunAfter(std::chrono::seconds(5), [this] {
      ADD_FAILURE() << "the loop was not stopped";
      loop_->Stop();
    });
  }
  ~ControlCallTest() override {
    loop_->Unwatch(listener_.get());
    loop_->Unwatch(connection_.get());
  }

  // Answers each packet by `answer` of it; an empty answer closes the connection.
  void Listen(std::function<std::string(const std::string&)> answer) {
    answer_ = std::move(answer);
    listener_ = BindUnix(path_, SOCK_SEQPACKET | SOCK_NONBLOCK).value();
    ASSERT_TRUE(loop_->Watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { Accept(); }).ok());
  }
  void Accept() {
    ++accepted_;
    loop_->Unwatch(connection_.get());
    connection_.reset(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ASSERT_TRUE(loop_->Watch(connection_.get(), EPOLLIN, [this](std::uint32_t) { Answer(); }).ok());
  }
  void Answer() {
    std::array<char, 1024> packet = {};
    const ssize_t got = recv(connection_.get(), packet.data(), packet.size(), 0);
    const std::string answer =
        got > 0 ? answer_(std::string(packet.data(), static_cast<std::size_t>(got))) : "";
    if (answer.empty()) {
      loop_->Unwatch(connection_.get());
      connection_.reset();
    } else {
      send(connection_.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }
  ControlCall::Done Keep() {
    return [this](const absl::Status& status) {
      results_.push_back(status);
      if (results_.size() == wanted_) {
        loop_->Stop();
      }
    };
  }

  TempDirectory temp_;
  std::unique_ptr<EventLoop> loop_;
  const std::string path_;
  std::function<std::string(const std::string&)> answer_;
  UniqueFd listener_;
  UniqueFd connection_;
  int accepted_ = 0;
  std::size_t wanted_ = 1;
  std::vector<absl::Status> results_;
};

TEST_F(ControlCallTest, OrdersArriveInTheirOrderAndEachIsAnswered) {
  std::string seen;
  Listen([&seen](const std::string& packet) {
    seen += packet;
    return packet == "b" ? "no such step" : "ok";
  });
  wanted_ = 3;
  ControlCall call(*loop_, path_, milliseconds(2000));
  for (const char* order : {"a", "b", "c"}) {
    call.Send(order, Keep());
  }
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_EQ(seen, "abc");
  EXPECT_TRUE(results_[0].ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(results_[1]));
  EXPECT_EQ(results_[1].message(), "no such step");
  EXPECT_TRUE(results_[2].ok());
}

TEST_F(ControlCallTest, ASupervisorThatIsStillStartingIsTriedAgain) {
  loop_->RunAfter(milliseconds(60), [this] { Listen([](const std::string&) { return "ok"; }); });
  ControlCall call(*loop_, path_, milliseconds(2000));
  call.Send("a", Keep());
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_TRUE(results_[0].ok());
}

TEST_F(ControlCallTest, ABrokenConnectionIsTriedAgain) {
  int times = 0;
  Listen([&times](const std::string&) { return ++times < 3 ? "" : "ok"; });
  ControlCall call(*loop_, path_, milliseconds(2000));
  call.Send("a", Keep());
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_TRUE(results_[0].ok());
  EXPECT_EQ(times, 3);
}

TEST_F(ControlCallTest, AnOrderThatComesLaterUsesTheSameConnection) {
  Listen([](const std::string&) { return "ok"; });
  wanted_ = 2;
  ControlCall call(*loop_, path_, milliseconds(2000));
  call.Send("a", Keep());
  loop_->RunAfter(milliseconds(50), [&] {
    EXPECT_EQ(results_.size(), 1U);
    call.Send("b", Keep());
  });
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_TRUE(results_[1].ok()) << results_[1];
  EXPECT_EQ(accepted_, 1);
}

TEST_F(ControlCallTest, AConnectionThatEndedBetweenTwoOrdersIsMadeAgain) {
  Listen([](const std::string&) { return "ok"; });
  wanted_ = 2;
  ControlCall call(*loop_, path_, milliseconds(2000));
  call.Send("a", Keep());
  loop_->RunAfter(milliseconds(50), [&] {
    loop_->Unwatch(connection_.get());
    connection_.reset();
  });
  loop_->RunAfter(milliseconds(100), [&] { call.Send("b", Keep()); });
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_TRUE(results_[1].ok()) << results_[1];
  EXPECT_EQ(accepted_, 2);
}

TEST_F(ControlCallTest, NobodyThereIsGivenUpInTime) {
  ControlCall call(*loop_, path_, milliseconds(50));
  call.Send("a", Keep());
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(results_[0])) << results_[0];
}

TEST_F(ControlCallTest, SilenceIsGivenUpInTimeAndTheNextOrderStillGoes) {
  listener_ = BindUnix(path_, SOCK_SEQPACKET | SOCK_NONBLOCK).value();  // nobody accepts
  wanted_ = 2;
  ControlCall call(*loop_, path_, milliseconds(50));
  call.Send("a", Keep());
  call.Send("b", Keep());
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(results_[0]));
  EXPECT_TRUE(absl::IsDeadlineExceeded(results_[1]));
}

TEST_F(ControlCallTest, AnOrderTooLargeForAPacketTravelsAsAFile) {
  std::string first;
  Listen([&first](const std::string& packet) {
    first = packet;
    return "ok";
  });
  ControlCall call(*loop_, path_, milliseconds(2000));
  call.Send(std::string(kControlPacketBytes + 1, 'x'), Keep());
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_TRUE(results_[0].ok()) << results_[0];
  EXPECT_EQ(first.size(), 1U) << "the packet itself only carries the descriptor";
}

}  // namespace
}  // namespace muster::agent
