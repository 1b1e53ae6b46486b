#include "agent/supervisor/sessions/session_desk.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "agent/supervisor/user_space/unix_socket.h"
#include "tests/unit/agent/supervisor/attempt_fixture.h"

namespace muster::agent {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Not;
using ::testing::StartsWith;

// The desk of an attempt whose group is a directory that looks like one.
class SessionDeskTest : public AttemptFixture {
 protected:
  SessionDeskTest() {
    Batch("exit 0");
    order_.launch.started = Time(std::chrono::milliseconds(1234));
    std::filesystem::create_directories(Group());
    std::ofstream(Group() + "/cgroup.procs").flush();
  }
  std::string Group() const { return state_ / "group/sessions"; }
  void Open(const std::string& group) {
    desk_ = SessionDesk::Open({*loop_, clock_, log_, order_, 0, state_.path(), kUser, group, -1,
                               [this] { return closed_; }, [this] { ++told_; }})
                .value();
  }
  // Asks as the module does; "": no answer.
  std::string AskFor(const std::string& question) {
    const UniqueFd socket = ConnectUnix(state_ / SessionSocketName(kUser), SOCK_SEQPACKET).value();
    send(socket.get(), question.data(), question.size(), MSG_NOSIGNAL);
    Turn(std::chrono::milliseconds(20));
    std::array<char, 65536> bytes{};
    const ssize_t got = recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }
  SessionAnswer Ask(bool enters, std::uint32_t uid) {
    const auto answer = ParseSessionAnswer(AskFor(ToPacket(SessionQuestion{enters, uid})));
    EXPECT_TRUE(answer.has_value());
    return answer.value_or(SessionAnswer());
  }
  void Turn(std::chrono::milliseconds time) {
    loop_->RunAfter(time, [this] { loop_->Stop(); });
    ASSERT_TRUE(loop_->Run().ok());
  }

  static constexpr uid_t kUser = 61001;
  const SystemClock clock_;
  const Logger log_{clock_, STDERR_FILENO, LogLevel::kError, false};
  const std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
  std::string closed_;
  int told_ = 0;
  std::unique_ptr<SessionDesk> desk_;
};

TEST_F(SessionDeskTest, TheUserMayEnterAndNobodyElse) {
  Open(state_ / "group");
  const SessionAnswer answer = Ask(false, kUser);
  EXPECT_EQ(answer.refusal, "");
  EXPECT_EQ(answer.job, "7");
  EXPECT_EQ(answer.started_ms, 1234);
  EXPECT_TRUE(answer.environment.empty()) << "he has not entered";
  EXPECT_EQ(Ask(false, kUser + 1).refusal, "it is another user's");
  EXPECT_EQ(Ask(true, kUser + 1).refusal, "it is another user's");
  EXPECT_EQ(Ask(true, 0).refusal, "it is another user's");
}

TEST_F(SessionDeskTest, NobodyEntersWhatIsClosedOrCannotHoldHim) {
  Open(state_ / "group");
  closed_ = "it is suspended";
  EXPECT_EQ(Ask(true, kUser).refusal, "it is suspended");
  desk_.reset();
  closed_.clear();
  Open("");
  EXPECT_EQ(Ask(false, kUser).refusal,
            "this node has no control groups that could hold a session to it");
  desk_.reset();
  Open(state_ / "nothing/there");
  EXPECT_EQ(Ask(true, kUser).refusal, "a control group for its sessions cannot be made");
}

TEST_F(SessionDeskTest, WhoEntersGetsTheJobsVariablesAndNotTheScripts) {
  order_.launch.program.environment = {"SECRET=1", "PATH=/mine", "TMPDIR=/mine", "MUSTER_JOB_ID=6"};
  Open(state_ / "group");
  const SessionAnswer answer = Ask(true, kUser);
  EXPECT_EQ(answer.refusal, "");
  EXPECT_THAT(answer.environment, Contains("MUSTER_JOB_ID=7"));
  EXPECT_THAT(answer.environment, Contains("SLURM_JOB_ID=7"));
  for (const char* name : {"SECRET=", "PATH=", "TMPDIR=", "PWD=", "ENVIRONMENT=",
                           "MUSTER_TASK_PID=", "SLURM_PROCID=", "MUSTER_LOCALID="}) {
    EXPECT_THAT(answer.environment, Each(Not(StartsWith(name))));
  }
}

TEST_F(SessionDeskTest, WhatIsNoQuestionHasNoAnswer) {
  Open(state_ / "group");
  EXPECT_EQ(AskFor("what is this"), "");
  EXPECT_EQ(AskFor(std::string(70000, 'x')), "");
  EXPECT_EQ(Ask(false, kUser).refusal, "") << "and the next is answered";
}

TEST_F(SessionDeskTest, ItHasEndedOnlyOnceItsGroupIsGone) {
  Open(state_ / "group");
  EXPECT_EQ(Ask(true, kUser).refusal, "");
  EXPECT_FALSE(desk_->Ended(std::chrono::milliseconds(10))) << "something is in it";
  EXPECT_FALSE(ConnectUnix(state_ / SessionSocketName(kUser), SOCK_SEQPACKET).ok())
      << "nobody enters any more";
  Turn(std::chrono::milliseconds(100));
  EXPECT_EQ(told_, 1);
  std::filesystem::remove(Group() + "/cgroup.procs");
  EXPECT_TRUE(desk_->Ended(std::chrono::milliseconds(10)));
  EXPECT_FALSE(std::filesystem::exists(Group()));
}

TEST_F(SessionDeskTest, WithoutSessionsItEndsAtOnce) {
  Open(state_ / "group");
  EXPECT_TRUE(desk_->Ended(std::chrono::milliseconds(10)));
  EXPECT_EQ(told_, 0);
}

}  // namespace
}  // namespace muster::agent
