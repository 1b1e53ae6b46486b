#include "scheduler/runtime/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace muster {
namespace {

bool IsOpen(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

UniqueFd OpenNull() {
  return UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

TEST(UniqueFd, ClosesWhatItOwnsWhenItGoes) {
  int number = -1;
  {
    const UniqueFd fd = OpenNull();
    number = fd.get();
    ASSERT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(UniqueFd, MovingLeavesOneOwner) {
  UniqueFd first = OpenNull();
  const int number = first.get();
  UniqueFd second = std::move(first);
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): that is the question.
  EXPECT_EQ(second.get(), number);
  UniqueFd third = OpenNull();
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_FALSE(IsOpen(replaced));
  EXPECT_TRUE(IsOpen(number));
}

TEST(UniqueFd, ReleaseGivesTheDescriptorUp) {
  UniqueFd fd = OpenNull();
  const UniqueFd taken(fd.release());
  fd.reset();
  EXPECT_TRUE(IsOpen(taken.get()));
}

}  // namespace
}  // namespace muster
