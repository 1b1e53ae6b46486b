#include "cli/tell/terminal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

class TerminalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int master = -1;
    int slave = -1;
    ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
    master_.reset(master);
    slave_.reset(slave);
  }
  // What stands on the screen.
  std::string Shown() const {
    fcntl(master_.get(), F_SETFL, O_NONBLOCK);
    std::array<char, 4096> buffer = {};
    const ssize_t got = read(master_.get(), buffer.data(), buffer.size());
    return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  }

  UniqueFd master_;
  UniqueFd slave_;
};

TEST_F(TerminalTest, AMessageIsALineWithABell) {
  ASSERT_EQ(fchmod(slave_.get(), 0620), 0);
  ASSERT_TRUE(WriteNotice(slave_.get(), "job 1 ended").ok());
  EXPECT_THAT(Shown(), HasSubstr("\ajob 1 ended\r"));
}

TEST_F(TerminalTest, ATerminalThatLetsNoMessagesInGetsNone) {
  ASSERT_EQ(fchmod(slave_.get(), 0600), 0);
  EXPECT_THAT(std::string(CheckTerminal(slave_.get()).message()), HasSubstr("mesg n"));
  EXPECT_FALSE(WriteNotice(slave_.get(), "job 1 ended").ok());
  EXPECT_EQ(Shown(), "");
}

TEST_F(TerminalTest, ATerminalOfAnotherUserGetsNone) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root gives a terminal away";
  }
  ASSERT_EQ(fchmod(slave_.get(), 0620), 0);
  ASSERT_EQ(fchown(slave_.get(), 61001, 61001), 0);
  EXPECT_THAT(std::string(CheckTerminal(slave_.get()).message()), HasSubstr("another user's"));
  EXPECT_EQ(Shown(), "");
}

TEST_F(TerminalTest, AFileIsNoTerminal) {
  const UniqueFd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
  EXPECT_THAT(std::string(CheckTerminal(null.get()).message()), HasSubstr("no terminal"));
}

}  // namespace
}  // namespace muster::cli
