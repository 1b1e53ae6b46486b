#include "agent/attempts/supervisor_calls.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "agent/supervisor/control.h"
#include "proto/supervisor.pb.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/unique_fd.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class SupervisorCallsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(state_.MakeAttempt(key_).ok());
    loop_->RunAfter(std::chrono::seconds(5), [this] {
      ADD_FAILURE() << "the loop was not stopped";
      loop_->Stop();
    });
  }
  static std::string Packet() {
    wire::SupervisorCommand command;
    command.mutable_suspend()->set_job(1);
    return command.SerializeAsString();
  }
  std::string Logged() const { return ReadFile(temp_ / "log").value(); }

  const TempDirectory temp_;
  const SystemClock clock_;
  UniqueFd log_fd_{open((temp_ / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
  const Logger log_{clock_, log_fd_.get(), LogLevel::kInfo, false};
  const std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
  StateDirectory state_ = StateDirectory::Open(temp_ / "agent").value();
  const AttemptKey key_{JobId(1), AttemptNumber(1)};
  SupervisorCalls calls_{*loop_, log_, state_, milliseconds(200)};
};

TEST_F(SupervisorCallsTest, WhatASupervisorRefusesIsInTheLogWithItsWords) {
  const auto supervisor =
      ControlSocket::Open(*loop_, state_.Attempt(key_).Control(), [](const auto&) {
        return absl::FailedPreconditionError("it is frozen already");
      }).value();
  calls_.Send(key_, Packet(), "suspension of");
  loop_->RunAfter(milliseconds(100), [this] { loop_->Stop(); });
  EXPECT_TRUE(loop_->Run().ok());
  EXPECT_THAT(Logged(), HasSubstr("suspension of 1.1 not taken by its supervisor"));
  EXPECT_THAT(Logged(), HasSubstr("it is frozen already"));
}

TEST_F(SupervisorCallsTest, AnEndThatNobodyHearsIsToldAndAForgottenOneIsNot) {
  int unheard = 0;
  const AttemptKey gone{JobId(2), AttemptNumber(1)};
  calls_.SendEnd(gone, Packet(), [&] { unheard += 100; });
  calls_.Forget(gone);
  calls_.SendEnd(key_, Packet(), [&] {
    ++unheard;
    loop_->Stop();
  });
  EXPECT_TRUE(loop_->Run().ok());
  EXPECT_EQ(unheard, 1);
}

}  // namespace
}  // namespace muster::agent
