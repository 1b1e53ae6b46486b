#include "scheduler/base/plain_text.h"

#include <gtest/gtest.h>

#include "scheduler/base/utf8.h"

namespace muster {
namespace {

TEST(PlainText, PrintableAsciiIsFromTheBlankToTheTilde) {
  EXPECT_TRUE(IsPrintableAscii(""));
  EXPECT_TRUE(IsPrintableAscii(" a job's name, 100 % ~"));
  for (const char* other : {"a\tb", "a\nb", "\x7f", "gr\xc3\xb6\xc3\x9f", "\x1b[31m"}) {
    EXPECT_FALSE(IsPrintableAscii(other)) << other;
  }
}

TEST(PlainText, AsciiWordsEndBeforeTheFirstOtherByte) {
  EXPECT_EQ(AsciiWords("1234567"), 0U);
  EXPECT_EQ(AsciiWords("12345678\n2345678x"), 16U);
  EXPECT_EQ(AsciiWords("1234567812\xc3\xb6"), 8U);
}

TEST(PlainText, BytesThatAreNoUtf8AreEscapedAndAllElseStays) {
  EXPECT_EQ(AsUtf8("line\n\xe6\xbc\xa2"), "line\n\xe6\xbc\xa2");
  EXPECT_EQ(AsUtf8("a\xff"
                   "b\xe6\xbc"),
            "a\\xffb\\xe6\\xbc");
}

}  // namespace
}  // namespace muster
