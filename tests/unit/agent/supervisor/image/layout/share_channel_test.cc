#include "agent/supervisor/image/layout/share_channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <thread>

#include "agent/supervisor/user_space/peer_address.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ShareChannelTest : public ::testing::Test {
 protected:
  // What the answerer gets when a caller does `call` in a thread of its own.
  absl::StatusOr<ShareChannel> Answer(const std::function<void()>& call,
                                      milliseconds patience = seconds(20)) {
    caller_ = std::thread(call);
    return ShareChannel::AwaitCall(listener_.socket, "secret", patience);
  }
  ~ShareChannelTest() override {
    if (caller_.joinable()) {
      caller_.join();
    }
  }

  const PeerListener listener_ = ListenForPeers(/*one_machine=*/true).value();
  std::thread caller_;
};

TEST_F(ShareChannelTest, FramesComeWholeAndInOrder) {
  const std::string large(ShareChannel::kTextBytesMax, 'x');
  absl::StatusOr<ShareChannel> channel = Answer([&] {
    ShareChannel ours = ShareChannel::Call(listener_.addresses, "secret", seconds(5)).value();
    EXPECT_TRUE(ours.Send(ShareKind::kWait, "", seconds(5)).ok());
    for (int i = 0; i < 50; ++i) {
      EXPECT_TRUE(ours.Send(ShareKind::kData, large, seconds(20)).ok());
    }
    EXPECT_TRUE(ours.Send(ShareKind::kEnd, "", seconds(5)).ok());
  });
  ASSERT_TRUE(channel.ok()) << channel.status();
  EXPECT_EQ(channel->Receive(seconds(20))->kind, ShareKind::kWait);
  for (int i = 0; i < 50; ++i) {
    const ShareFrame frame = channel->Receive(seconds(20)).value();
    EXPECT_EQ(frame.kind, ShareKind::kData);
    EXPECT_EQ(frame.text, large);
  }
  EXPECT_EQ(channel->Receive(seconds(20))->kind, ShareKind::kEnd);
  EXPECT_TRUE(absl::IsUnavailable(channel->Receive(seconds(20)).status()));
}

TEST_F(ShareChannelTest, WhoDoesNotKnowTheTokenIsSentAway) {
  absl::StatusOr<ShareChannel> channel = Answer([&] {
    ShareChannel stranger = ShareChannel::Call(listener_.addresses, "guess", seconds(5)).value();
    stranger.Send(ShareKind::kEnd, "", seconds(5)).IgnoreError();
    ShareChannel ours = ShareChannel::Call(listener_.addresses, "secret", seconds(5)).value();
    EXPECT_TRUE(ours.Send(ShareKind::kFetch, "", seconds(5)).ok());
  });
  ASSERT_TRUE(channel.ok()) << channel.status();
  EXPECT_EQ(channel->Receive(seconds(20))->kind, ShareKind::kFetch);
}

TEST_F(ShareChannelTest, WhereNobodyCallsTheWaitEnds) {
  EXPECT_TRUE(absl::IsDeadlineExceeded(Answer([] {}, milliseconds(50)).status()));
}

TEST_F(ShareChannelTest, SilenceEndsTheWait) {
  absl::StatusOr<ShareChannel> channel = Answer([&] {
    ShareChannel ours = ShareChannel::Call(listener_.addresses, "secret", seconds(5)).value();
    EXPECT_TRUE(ours.Send(ShareKind::kWait, "", seconds(5)).ok());
    std::this_thread::sleep_for(milliseconds(300));
  });
  ASSERT_TRUE(channel.ok()) << channel.status();
  EXPECT_TRUE(channel->Receive(seconds(20)).ok());
  EXPECT_TRUE(absl::IsUnavailable(channel->Receive(milliseconds(50)).status()));
}

TEST_F(ShareChannelTest, AnAddressThatDoesNotAnswerIsNotTheLast) {
  // Nobody listens at the port that one has just given back.
  std::vector<std::string> addresses = ListenForPeers(true)->addresses;
  addresses.push_back("no address");
  EXPECT_FALSE(ShareChannel::Call(addresses, "secret", seconds(5)).ok());
  addresses.push_back(listener_.addresses.front());
  absl::StatusOr<ShareChannel> channel = Answer([&] {
    ShareChannel ours = ShareChannel::Call(addresses, "secret", seconds(5)).value();
    EXPECT_TRUE(ours.Send(ShareKind::kAlone, "", seconds(5)).ok());
  });
  ASSERT_TRUE(channel.ok()) << channel.status();
}

}  // namespace
}  // namespace muster::agent
