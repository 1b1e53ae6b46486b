#include "cli/connect/first_line.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::cli {
namespace {

TEST(FirstLine, IsKeptApartHoweverTheBytesCome) {
  const std::string whole = "key a\nSSH-2.0\nrest";
  for (std::size_t size = 1; size <= whole.size(); ++size) {
    std::string line;
    std::string passed;
    FirstLine first([&line](const std::string& text) { line += text + "|"; });
    for (std::size_t at = 0; at < whole.size(); at += size) {
      passed += first.Pass(std::string_view(whole).substr(at, size));
    }
    EXPECT_EQ(line, "key a|");
    EXPECT_EQ(passed, "SSH-2.0\nrest");
  }
}

TEST(FirstLine, ThatNeverEndsIsCut) {
  std::string line;
  FirstLine first([&line](const std::string& text) { line = text; });
  EXPECT_EQ(first.Pass(std::string(FirstLine::kBytesMax + 1, 'x')), "");
  EXPECT_EQ(line.size(), FirstLine::kBytesMax);
  EXPECT_EQ(first.Pass("after"), "after");
}

}  // namespace
}  // namespace muster::cli
