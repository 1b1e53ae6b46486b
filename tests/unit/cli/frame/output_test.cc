#include "cli/frame/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

// A pseudo terminal of 97 columns.
class Terminal : public ::testing::Test {
 protected:
  void SetUp() override {
    master_ = UniqueFd(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(master_.valid());
    ASSERT_EQ(grantpt(master_.get()), 0);
    ASSERT_EQ(unlockpt(master_.get()), 0);
    char name[128] = {};
    ASSERT_EQ(ptsname_r(master_.get(), name, sizeof(name)), 0);
    slave_ = UniqueFd(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(slave_.valid());
    const winsize size = {.ws_row = 24, .ws_col = 97, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(ioctl(slave_.get(), TIOCSWINSZ, &size), 0);
  }

  UniqueFd master_;
  UniqueFd slave_;
};

TEST_F(Terminal, GivesItsWidthAndColour) {
  const Style style = StyleFor(Environment({"LANG=de_DE.UTF-8"}), slave_.get());
  EXPECT_EQ(style.width, 97U);
  EXPECT_TRUE(style.colour);
  EXPECT_TRUE(style.utf8);
}

TEST_F(Terminal, NoColorAndDumbTerminalsAreHonoured) {
  EXPECT_FALSE(StyleFor(Environment({"NO_COLOR=1"}), slave_.get()).colour);
  EXPECT_FALSE(StyleFor(Environment({"TERM=dumb"}), slave_.get()).colour);
  EXPECT_TRUE(StyleFor(Environment({"NO_COLOR="}), slave_.get()).colour);
}

TEST_F(Terminal, ColumnsGoesBeforeTheTerminalsWord) {
  EXPECT_EQ(StyleFor(Environment({"COLUMNS=60"}), slave_.get()).width, 60U);
  EXPECT_EQ(StyleFor(Environment({"COLUMNS=wide"}), slave_.get()).width, 97U);
}

TEST(Output, AFileHasNoWidthAndNoColour) {
  const UniqueFd file(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const Style style = StyleFor(Environment({"COLUMNS=60"}), file.get());
  EXPECT_EQ(style.width, 0U);
  EXPECT_FALSE(style.colour);
}

TEST(Output, TheFirstLocaleThatIsSetDecides) {
  EXPECT_FALSE(StyleFor(Environment(), 0).utf8);
  EXPECT_FALSE(StyleFor(Environment({"LANG=C"}), 0).utf8);
  EXPECT_TRUE(StyleFor(Environment({"LANG=C.utf8"}), 0).utf8);
  EXPECT_FALSE(StyleFor(Environment({"LC_ALL=POSIX", "LANG=C.UTF-8"}), 0).utf8);
  EXPECT_TRUE(StyleFor(Environment({"LC_ALL=", "LC_CTYPE=en_GB.UTF-8", "LANG=C"}), 0).utf8);
}

}  // namespace
}  // namespace muster::cli
