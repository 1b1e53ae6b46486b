#include "cli/controller/framed_channel.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string>

#include "tests/unit/cli/controller/framed_peer.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using testing::FramedAnswer;
using testing::FramedPeer;
using Outcome = FramedChannel::Outcome;

constexpr milliseconds kLongEnough{10'000};

std::optional<std::string> Echo(const std::string& method, const std::string& request) {
  return FramedAnswer(0, "", method + ":" + request);
}

class FramedChannelTest : public ::testing::Test {
 protected:
  const TempDirectory directory_;
  const std::string path_ = directory_ / "c.sock";
};

TEST_F(FramedChannelTest, CallsOneAfterTheOtherUseOneConnection) {
  const FramedPeer peer(path_, Echo);
  FramedChannel channel(path_);
  for (const char* request : {"one", "two"}) {
    ASSERT_EQ(channel.Connect(), 0);
    const FramedChannel::Answer answer = channel.Call("Echo", request, kLongEnough);
    EXPECT_EQ(answer.outcome, Outcome::kAnswered);
    EXPECT_EQ(answer.code, 0U);
    EXPECT_EQ(answer.reply, std::string("Echo:") + request);
  }
  EXPECT_EQ(peer.connections(), 1);
}

TEST_F(FramedChannelTest, ARefusalHasItsCodeAndItsText) {
  const FramedPeer peer(path_, [](const std::string&, const std::string&) {
    return std::optional<std::string>(FramedAnswer(5, "no such job", ""));
  });
  FramedChannel channel(path_);
  ASSERT_EQ(channel.Connect(), 0);
  const FramedChannel::Answer answer = channel.Call("ShowJob", "", kLongEnough);
  EXPECT_EQ(answer.outcome, Outcome::kAnswered);
  EXPECT_EQ(answer.code, 5U);
  EXPECT_EQ(answer.text, "no such job");
  EXPECT_EQ(answer.reply, "");
}

TEST_F(FramedChannelTest, WithoutASocketThereIsNoConnection) {
  FramedChannel channel(path_);
  EXPECT_EQ(channel.Connect(), ENOENT);
  EXPECT_EQ(channel.Call("Echo", "", kLongEnough).outcome, Outcome::kBroken);
}

TEST_F(FramedChannelTest, WhoSpeaksNoFramesIsForeign) {
  const FramedPeer peer(path_, Echo, "HTTP/1.1 400 Bad Request");
  FramedChannel channel(path_);
  ASSERT_EQ(channel.Connect(), 0);
  EXPECT_EQ(channel.Call("Echo", "one", kLongEnough).outcome, Outcome::kForeign);
}

TEST_F(FramedChannelTest, ACallThatIsNotAnsweredInTimeIsLate) {
  const FramedPeer peer(path_, [](const std::string&, const std::string&) {
    return std::optional<std::string>();
  });
  FramedChannel channel(path_);
  ASSERT_EQ(channel.Connect(), 0);
  EXPECT_EQ(channel.Call("Echo", "one", milliseconds(50)).outcome, Outcome::kLate);
}

TEST_F(FramedChannelTest, AConnectionThatEndsBreaksItsCallAndIsNotUsedAgain) {
  int calls = 0;
  const FramedPeer peer(path_, [&calls](const std::string& method, const std::string& request) {
    return ++calls == 1 ? std::optional<std::string>("") : Echo(method, request);
  });
  FramedChannel channel(path_);
  ASSERT_EQ(channel.Connect(), 0);
  EXPECT_EQ(channel.Call("Echo", "one", kLongEnough).outcome, Outcome::kBroken);
  ASSERT_EQ(channel.Connect(), 0);
  EXPECT_EQ(channel.Call("Echo", "one", kLongEnough).reply, "Echo:one");
  EXPECT_EQ(peer.connections(), 2);
}

TEST_F(FramedChannelTest, ATextLongerThanItsAnswerIsNotBelieved) {
  const FramedPeer peer(path_, [](const std::string&, const std::string&) {
    return std::optional<std::string>(testing::FrameNumber(8) + testing::FrameNumber(0) +
                                      testing::FrameNumber(1));
  });
  FramedChannel channel(path_);
  ASSERT_EQ(channel.Connect(), 0);
  EXPECT_EQ(channel.Call("Echo", "", kLongEnough).outcome, Outcome::kBroken);
}

}  // namespace
}  // namespace muster::cli
