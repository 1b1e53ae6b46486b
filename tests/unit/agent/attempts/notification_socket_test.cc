#include "agent/attempts/notification_socket.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/supervisor/attempt/journal.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

class NotificationSocketTest : public ::testing::Test {
 protected:
  NotificationSocketTest() {
    loop_ = *EventLoop::Create();
    socket_ = *NotificationSocket::Open(
        *loop_, path_, [this](const AttemptKey& key) { ++notified_[ToString(key)]; },
        [this](const AttemptKey& key, const std::string& wanted) {
          wanted_.push_back(ToString(key) + " " + wanted);
        });
  }
  void RunOnce() {
    loop_->RunAfter(std::chrono::milliseconds(50), [this] { loop_->Stop(); });
    ASSERT_TRUE(loop_->Run().ok());
  }

  const TempDirectory directory_;
  const std::string path_ = directory_ / "doorbell";
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<NotificationSocket> socket_;
  std::map<std::string, int> notified_;
  std::vector<std::string> wanted_;
};

TEST_F(NotificationSocketTest, AnAttemptThatIsNamedOftenIsLookedAtOnce) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(NotifyAgent(path_, "3.1"));
  }
  EXPECT_TRUE(NotifyAgent(path_, "no attempt"));
  RunOnce();
  EXPECT_EQ(notified_, (std::map<std::string, int>{{"3.1", 1}}));
}

TEST_F(NotificationSocketTest, WhatFollowsALineEndIsAnImageThatTheAttemptWants) {
  const std::string large(4000, 'x');
  EXPECT_TRUE(NotifyAgent(path_, "3.1\nan image\nof two lines"));
  EXPECT_TRUE(NotifyAgent(path_, "3.1\n" + large));
  EXPECT_TRUE(NotifyAgent(path_, "\nof nobody"));
  RunOnce();
  EXPECT_TRUE(notified_.empty());
  EXPECT_EQ(wanted_, (std::vector<std::string>{"3.1 an image\nof two lines", "3.1 " + large}));
}

TEST_F(NotificationSocketTest, WithoutAnAgentItIsLostWhichIsTold) {
  socket_.reset();
  EXPECT_FALSE(NotifyAgent(directory_ / "none", "3.1"));
  EXPECT_FALSE(NotifyAgent("", "3.1"));
}

}  // namespace
}  // namespace muster::agent
