#include "cli/page/shell_words.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(ShellWords, WordsThatNeedItAreQuoted) {
  EXPECT_EQ(ShellWords({}), "");
  EXPECT_EQ(ShellWords({"./heat2d", "--n=4", "a b", ""}), "./heat2d --n=4 'a b' ''");
  EXPECT_EQ(ShellWords({"it's", "$HOME"}), "'it'\\''s' '$HOME'");
}

}  // namespace
}  // namespace muster::cli
