#include "daemon/gateway/link/web_sessions.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

class WebSessionsTest : public ::testing::Test {
 protected:
  std::string Link(const std::string& code, const std::string& token, mode_t mode = 0600) {
    EXPECT_TRUE(WriteFileAtomically(directory_ / WebSessions::FileOf(code), token, mode).ok());
    return code;
  }

  const TempDirectory directory_;
  ManualClock clock_{SystemClock().Now()};
  WebSessions sessions_{directory_ / ".", clock_};
  const std::string code_ = std::string(32, 'c');
};

TEST_F(WebSessionsTest, ACodeCountsOnceAndLeavesNoFile) {
  const std::string session = sessions_.Redeem(Link(code_, "a.b.c")).value();
  EXPECT_EQ(sessions_.TokenOf(session), "a.b.c");
  EXPECT_EQ(session.find("a.b.c"), std::string::npos);
  EXPECT_TRUE(absl::IsUnauthenticated(sessions_.Redeem(code_).status()));
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "."));
}

TEST_F(WebSessionsTest, AnOldCodeOrOneThatOthersMayHaveReadIsNone) {
  Link(code_, "a.b.c");
  clock_.Advance(WebSessions::kCodeLife + std::chrono::seconds(2));
  EXPECT_FALSE(sessions_.Redeem(code_).ok());
  clock_.SetWall(SystemClock().Now());
  const std::string other(32, 'd');
  EXPECT_FALSE(sessions_.Redeem(Link(other, "a.b.c", 0644)).ok());
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "."));
}

TEST_F(WebSessionsTest, NoCodeLeadsOutOfTheDirectory) {
  for (const std::string& code :
       {std::string(), std::string("x"), std::string("../../etc/passwd0000"), std::string(40, '/'),
        std::string(100'000, 'a')}) {
    EXPECT_FALSE(sessions_.Redeem(code).ok());
  }
  EXPECT_FALSE(WebSessions("", clock_).Redeem(code_).ok());
}

TEST_F(WebSessionsTest, ASessionEndsByItselfOrWhenItIsTold) {
  const std::string session = sessions_.Redeem(Link(code_, "a.b.c")).value();
  clock_.Advance(WebSessions::kSessionLife);
  EXPECT_EQ(sessions_.TokenOf(session), "");
  clock_.SetWall(SystemClock().Now());
  const std::string again = sessions_.Redeem(Link(code_, "a.b.c")).value();
  sessions_.End(again);
  EXPECT_EQ(sessions_.TokenOf(again), "");
  EXPECT_EQ(sessions_.TokenOf("d.e.f"), "d.e.f") << "a token is itself";
}

TEST_F(WebSessionsTest, SessionsAreBounded) {
  std::string first;
  for (std::size_t i = 0; i <= WebSessions::kSessionsMax; ++i) {
    const std::string code = absl::StrCat(std::string(30, 'e'), i);
    const std::string session = sessions_.Redeem(Link(code, "t.t.t")).value();
    first = i == 0 ? session : first;
    clock_.Advance(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(sessions_.TokenOf(first), "") << "the oldest made room";
}

}  // namespace
}  // namespace muster::daemon
