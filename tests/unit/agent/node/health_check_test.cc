#include "agent/node/health_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "agent/node/health_document.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kFigures =
    R"({"figures":[{"component":"clock","unit":"GHz","better":"higher","value":3.4,"roof":0}]})";

TEST(HealthDocument, TheLastObjectIsReadInThousandths) {
  const auto figures = ReadHealthDocument(
      "some words\n"
      R"({"figures":[{"component":"memory latency","unit":"ns","better":"lower","value":95.1234}]})"
      "\n");
  ASSERT_TRUE(figures.ok()) << figures.status();
  EXPECT_THAT(*figures,
              ElementsAre(HealthFigure{"memory latency", "ns", HealthSense::kLower, 95'123, 0}));
}

TEST(HealthDocument, WhatTheProgramSaidInsteadIsTold) {
  EXPECT_EQ(ReadHealthDocument("").status().message(), "the health program printed nothing");
  EXPECT_EQ(ReadHealthDocument("one\nhealth: no memory\n").status().message(),
            "the health program printed: health: no memory");
}

TEST(HealthDocument, FiguresThatAreNoneAreRefused) {
  for (const char* figure : {R"({"component":"","unit":"","better":"higher","value":1})",
                             R"({"component":"a","unit":"","better":"best","value":1})",
                             R"({"component":"a","unit":"","better":"higher","value":-1})",
                             R"({"component":"a","unit":"","better":"higher","value":1e300})",
                             R"({"component":"a","unit":"","better":"higher","value":"1"})", "7"}) {
    EXPECT_FALSE(ReadHealthDocument(std::string("{\"figures\":[") + figure + "]}").ok()) << figure;
  }
  EXPECT_FALSE(ReadHealthDocument(R"({"figures":{}})").ok());
}

class HealthCheckTest : public ::testing::Test {
 protected:
  HealthCheckTest()
      : loop_(EventLoop::Create().value()), log_(clock_, STDERR_FILENO, LogLevel::kError, false) {}

  // A program of the test's own in place of the real one.
  HealthCheck& Make(const std::string& body) {
    const std::string path = temp_ / "program";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    EXPECT_EQ(chmod(path.c_str(), 0700), 0);
    HealthCheck::Config config;
    config.program = path;
    config.environment = {"PATH=/usr/bin:/bin"};
    config.quick_within = within_;
    config.reboot = reboot_;
    check_ = std::make_unique<HealthCheck>(*loop_, clock_, log_, config,
                                           [this](const HealthReport& report) {
                                             told_.push_back(report);
                                             loop_->Stop();
                                           });
    return *check_;
  }

  std::chrono::milliseconds within_{60'000};
  std::string reboot_;
  TempDirectory temp_;
  const SystemClock clock_;
  std::unique_ptr<EventLoop> loop_;
  const Logger log_;
  std::vector<HealthReport> told_;
  std::unique_ptr<HealthCheck> check_;
};

TEST_F(HealthCheckTest, WhatTheProgramMeasuredIsTold) {
  Make(std::string("echo '") + kFigures + "'; exit 1").Begin(7, HealthKind::kQuick);
  ASSERT_TRUE(loop_->Run().ok());
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].number, 7U);
  EXPECT_EQ(told_[0].outcome, HealthOutcome::kMeasured);
  EXPECT_EQ(told_[0].figures.size(), 1U);
  EXPECT_FALSE(check_->running());
}

TEST_F(HealthCheckTest, ARebootSaysOnlyThatItFailed) {
  reboot_ = temp_ / "reboot";
  std::ofstream(reboot_) << "#!/bin/sh\necho no power; exit 3\n";
  ASSERT_EQ(chmod(reboot_.c_str(), 0700), 0);
  HealthCheck& check = Make("exit 1");
  check.Begin(4, HealthKind::kReboot);
  ASSERT_TRUE(loop_->Run().ok());
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].outcome, HealthOutcome::kBroken);
  EXPECT_EQ(told_[0].text, reboot_ + " failed: no power");
  std::ofstream(reboot_) << "#!/bin/sh\n: > " << temp_ / "done"
                         << "\n";
  check.Begin(5, HealthKind::kReboot);
  check.Yield();
  EXPECT_TRUE(check.running()) << "no job takes the node back from it";
  loop_->RunAfter(std::chrono::milliseconds(10), [this] { loop_->Stop(); });
  while (check.running()) {
    ASSERT_TRUE(loop_->Run().ok());
    loop_->RunAfter(std::chrono::milliseconds(10), [this] { loop_->Stop(); });
  }
  EXPECT_TRUE(ReadFile(temp_ / "done").ok());
  EXPECT_EQ(told_.size(), 1U) << "the machine is going down";
}

TEST_F(HealthCheckTest, ARebootWithoutAProgramIsRefused) {
  Make("exit 1").Begin(4, HealthKind::kReboot);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_THAT(told_[0].text, HasSubstr("set reboot in agent.toml"));
  check_->Refuse(5);
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_EQ(told_[1].outcome, HealthOutcome::kYielded);
}

TEST_F(HealthCheckTest, ACheckThatEndedIsToldAgainAndNotMadeAgain) {
  HealthCheck& check =
      Make(std::string("echo >>") + (temp_ / "runs") + "; echo '" + kFigures + "'");
  check.Begin(1, HealthKind::kQuick);
  ASSERT_TRUE(loop_->Run().ok());
  check.Begin(1, HealthKind::kQuick);
  EXPECT_EQ(told_.size(), 2U);
  EXPECT_EQ(ReadFile(temp_ / "runs").value(), "\n");
}

TEST_F(HealthCheckTest, AJobHasTheNodeAtOnceAndNothingIsLeft) {
  HealthCheck& check = Make("sleep 600 & echo $! >" + (temp_ / "child") + "; wait");
  check.Begin(3, HealthKind::kBurnIn);
  const auto look = [&](const auto& self) -> void {
    if (access((temp_ / "child").c_str(), F_OK) == 0 &&
        !ReadFile(temp_ / "child").value().empty()) {
      loop_->Stop();
    } else {
      loop_->RunAfter(std::chrono::milliseconds(5), [&self] { self(self); });
    }
  };
  // Not before the loop runs: what stops it then is forgotten.
  loop_->RunAfter(std::chrono::milliseconds(0), [&look] { look(look); });
  ASSERT_TRUE(loop_->Run().ok());
  const ProcessIdentity who = ReadIdentity(std::stoi(ReadFile(temp_ / "child").value())).value();
  check.Yield();
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].outcome, HealthOutcome::kYielded);
  EXPECT_FALSE(check.running());
  const auto lives = [&] { return IsAlive(who).value_or(false); };
  for (int i = 0; i < 1000 && lives(); ++i) {
    usleep(5000);
  }
  EXPECT_FALSE(lives()) << "the whole group goes";
  check.Yield();
  EXPECT_EQ(told_.size(), 1U) << "there is nothing to yield";
}

TEST_F(HealthCheckTest, AProgramThatIsNotThereOrSaysNothingOrTakesTooLongIsBroken) {
  within_ = std::chrono::milliseconds(50);
  HealthCheck& slow = Make("sleep 600");
  slow.Begin(1, HealthKind::kQuick);
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_EQ(told_.back().outcome, HealthOutcome::kBroken);
  EXPECT_EQ(told_.back().text, "the check took too long");
  within_ = std::chrono::milliseconds(60'000);
  HealthCheck& silent = Make("echo no luck >&2; exit 3");
  silent.Begin(2, HealthKind::kQuick);
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_EQ(told_.back().text, "the health program printed: no luck");
  unlink((temp_ / "program").c_str());
  silent.Begin(3, HealthKind::kQuick);
  EXPECT_EQ(told_.back().number, 3U);
  EXPECT_THAT(told_.back().text, HasSubstr("cannot start"));
}

}  // namespace
}  // namespace muster::agent
