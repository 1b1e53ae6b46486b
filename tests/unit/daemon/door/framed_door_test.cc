#include "daemon/door/framed_door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>

namespace muster::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{10'000};

// A door whose connections come from socketpair(2).
class FramedDoorTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(door_.Start().ok()); }

  // The client's end.
  UniqueFd Connect() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    door_.Take(UniqueFd(ends[0]), [this](UniqueFd fd) { handed_.set_value(std::move(fd)); });
    const timeval patience{10, 0};
    setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return UniqueFd(ends[1]);
  }

  static void Send(const UniqueFd& fd, const std::string& bytes) {
    ASSERT_EQ(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  static std::string Receive(const UniqueFd& fd, std::size_t size) {
    std::string bytes(size, '\0');
    const ssize_t got = recv(fd.get(), bytes.data(), size, MSG_WAITALL);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return bytes;
  }
  static std::string Number(std::size_t number) {
    std::string bytes;
    for (unsigned i = 0; i < 4; ++i) {
      bytes.push_back(static_cast<char>(number >> (8 * i)));
    }
    return bytes;
  }
  static std::string Frame(const std::string& method, const std::string& request) {
    return Number(4 + method.size() + request.size()) + Number(method.size()) + method + request;
  }

  std::promise<UniqueFd> handed_;
  std::shared_ptr<FramedDoor::Outlet> outlet_;
  std::promise<void> begun_;
  std::promise<void> gone_;
  std::promise<void> ended_;
  FramedDoor door_{
      [](const std::string& method, const std::string& request, const FramedDoor::Answer& answer) {
        if (method == "Refuse") {
          answer(5, "no such thing", "");
        } else {
          // As a controller does: from another thread.
          std::thread([=] { answer(0, "", method + ":" + request); }).detach();
        }
      },
      [this](const std::string& method, const std::string& /*request*/,
             const std::shared_ptr<FramedDoor::Outlet>& outlet) {
        if (method == "Watch") {
          outlet_ = outlet;
          outlet->WhenGone([this] {
            gone_.set_value();
            outlet_->End(1, "gone", [this] { ended_.set_value(); });
          });
          begun_.set_value();
        }
        return method == "Watch";
      }};
};

// CPU time of this process.
std::chrono::nanoseconds Worked() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

bool IsSet(std::promise<void>& promise) {
  return promise.get_future().wait_for(kPatience) == std::future_status::ready;
}

TEST_F(FramedDoorTest, ACallIsAnsweredAndSoIsTheNextOnTheSameConnection) {
  const UniqueFd client = Connect();
  Send(client, "MUSTER1\n" + Frame("Echo", "one"));
  EXPECT_EQ(Receive(client, 8), "MUSTER1\n");
  EXPECT_EQ(Receive(client, 20), Number(16) + Number(0) + Number(0) + "Echo:one");
  Send(client, Frame("Echo", "two"));
  EXPECT_EQ(Receive(client, 20), Number(16) + Number(0) + Number(0) + "Echo:two");
}

TEST_F(FramedDoorTest, ARefusalHasItsCodeAndItsText) {
  const UniqueFd client = Connect();
  Send(client, "MUSTER1\n" + Frame("Refuse", ""));
  EXPECT_EQ(Receive(client, 33),
            "MUSTER1\n" + Number(21) + Number(5) + Number(13) + "no such thing");
}

TEST_F(FramedDoorTest, ACallThatComesInPiecesIsOneCall) {
  const UniqueFd client = Connect();
  for (const char byte : "MUSTER1\n" + Frame("Echo", "slow")) {
    Send(client, std::string(1, byte));
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(Receive(client, 29), "MUSTER1\n" + Number(17) + Number(0) + Number(0) + "Echo:slow");
}

TEST_F(FramedDoorTest, WhatIsNotInFramesIsHandedOnUnread) {
  const UniqueFd client = Connect();
  Send(client, "PRI * HTTP/2.0\r\n");
  auto future = handed_.get_future();
  ASSERT_EQ(future.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(Receive(future.get(), 16), "PRI * HTTP/2.0\r\n");
}

TEST_F(FramedDoorTest, WhatBeginsLikeFramesAndGoesOnOtherwiseIsClosed) {
  const UniqueFd client = Connect();
  Send(client, "MUSTERED");
  EXPECT_EQ(Receive(client, 1), "");
}

TEST_F(FramedDoorTest, FirstBytesThatComeSlowlyCostNoWork) {
  const UniqueFd client = Connect();
  Send(client, "MUSTER");
  const auto before = Worked();
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_LT(Worked() - before, milliseconds(100));
  Send(client, "1\n" + Frame("Echo", "one"));
  EXPECT_EQ(Receive(client, 28), "MUSTER1\n" + Number(16) + Number(0) + Number(0) + "Echo:one");
}

TEST_F(FramedDoorTest, ALengthThatCannotBeEndsTheConnection) {
  for (const std::size_t length : {std::size_t{3}, FramedDoor::kRequestBytesMax + 1}) {
    const UniqueFd client = Connect();
    Send(client, "MUSTER1\n" + Number(length));
    EXPECT_EQ(Receive(client, 1), "") << length;
  }
  const UniqueFd client = Connect();
  Send(client, "MUSTER1\n" + Number(8) + Number(5) + "Echo");
  EXPECT_EQ(Receive(client, 1), "");
}

TEST_F(FramedDoorTest, AStreamsMessagesComeOneAfterTheOtherAndThenItsEnd) {
  const UniqueFd client = Connect();
  Send(client, "MUSTER1\n" + Frame("Watch", ""));
  ASSERT_TRUE(IsSet(begun_));
  for (const std::string text : {"one", "two"}) {
    std::promise<bool> taken;
    outlet_->Send(text, [&taken](bool ok) { taken.set_value(ok); });
    std::future<bool> future = taken.get_future();
    ASSERT_EQ(future.wait_for(kPatience), std::future_status::ready);
    EXPECT_TRUE(future.get());
  }
  outlet_->End(0, "", [this] { ended_.set_value(); });
  ASSERT_TRUE(IsSet(ended_));
  EXPECT_EQ(Receive(client, 8), "MUSTER1\n");
  EXPECT_EQ(Receive(client, 15), Number(11) + Number(FramedDoor::kMoreComes) + Number(0) + "one");
  EXPECT_EQ(Receive(client, 15), Number(11) + Number(FramedDoor::kMoreComes) + Number(0) + "two");
  EXPECT_EQ(Receive(client, 12), Number(8) + Number(0) + Number(0));
  Send(client, Frame("Echo", "on"));
  EXPECT_EQ(Receive(client, 19), Number(15) + Number(0) + Number(0) + "Echo:on");
}

TEST_F(FramedDoorTest, AStreamHearsThatItsClientHasGone) {
  UniqueFd client = Connect();
  Send(client, "MUSTER1\n" + Frame("Watch", ""));
  ASSERT_TRUE(IsSet(begun_));
  client.reset();
  EXPECT_TRUE(IsSet(gone_));
  EXPECT_TRUE(IsSet(ended_));
}

TEST_F(FramedDoorTest, AMessageThatTheClientDoesNotTakeIsToldWhenItHasGone) {
  UniqueFd client = Connect();
  Send(client, "MUSTER1\n" + Frame("Watch", ""));
  ASSERT_TRUE(IsSet(begun_));
  std::promise<bool> taken;
  outlet_->Send(std::string(std::size_t{8} << 20U, 'x'),
                [&taken](bool ok) { taken.set_value(ok); });
  std::future<bool> future = taken.get_future();
  EXPECT_EQ(future.wait_for(milliseconds(50)), std::future_status::timeout);
  client.reset();
  ASSERT_EQ(future.wait_for(kPatience), std::future_status::ready);
  EXPECT_FALSE(future.get());
  EXPECT_TRUE(IsSet(ended_));
}

TEST_F(FramedDoorTest, AClientThatGoesBeforeItHasTakenItsAnswerCostsNoWork) {
  UniqueFd client = Connect();
  Send(client, "MUSTER1\n" + Frame("Echo", std::string(std::size_t{8} << 20U, 'x')));
  EXPECT_EQ(Receive(client, 8), "MUSTER1\n");
  const auto before = Worked();
  client.reset();
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_LT(Worked() - before, milliseconds(100));
}

TEST_F(FramedDoorTest, AfterStopEveryConnectionHasEnded) {
  const UniqueFd client = Connect();
  Send(client, "MUSTER1\n" + Frame("Echo", "one"));
  EXPECT_EQ(Receive(client, 28).size(), 28U);
  door_.Stop();
  EXPECT_EQ(Receive(client, 1), "");
}

}  // namespace
}  // namespace muster::daemon
