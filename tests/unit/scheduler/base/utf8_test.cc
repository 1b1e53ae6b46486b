#include "scheduler/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

TEST(Utf8, FormIsCheckedByTheBook) {
  for (const char* good : {"", "plain", "Grüße", "日本", "\xf0\x9f\x9a\x80", "\xed\x9f\xbf"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "ab\xff"}) {
    EXPECT_FALSE(IsUtf8(bad));
  }
}

TEST(Utf8, ControlCharactersAndStrayBytesArePrintedAsEscapes) {
  EXPECT_EQ(Printable("plain größe 漢"), "plain größe 漢");
  EXPECT_EQ(Printable("\x1b[31mred\n"), "\\x1b[31mred\\x0a");
  EXPECT_EQ(Printable("cut \xe6\xbc"), "cut \\xe6\\xbc");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");
  EXPECT_EQ(Printable("\xe2\x80\xae"
                      "abc"),
            "\\xe2\\x80\\xaeabc");
  EXPECT_EQ(Printable("\xd8\x9c\xe2\x80\x8f"), "\\xd8\\x9c\\xe2\\x80\\x8f");
  EXPECT_EQ(Printable("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");
  EXPECT_EQ(Printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Utf8, TheFirstCharacterIsWholeOrOneStrayByte) {
  EXPECT_EQ(FirstCharacter("\xe6\xbc\xa2x"), "\xe6\xbc\xa2");
  EXPECT_EQ(FirstCharacter("\xe6\xbc"), "\xe6");
  EXPECT_EQ(FirstCharacter("\xed\xa0\x80"), "\xed");
  EXPECT_EQ(DecodeCharacter("\xe6\xbc\xa2"), U'漢');
  EXPECT_EQ(DecodeCharacter("\xf0\x9f\x9a\x80"), U'\U0001f680');
}

TEST(EscapeControl, ControlCharactersAreEscapedAndUtf8Passes) {
  EXPECT_EQ(EscapeControl(std::string("a\x1b[2Jb\0c\x7f\t\r\\", 12)),
            "a\\x1b[2Jb\\x00c\\x7f\\t\\r\\\\");
  EXPECT_EQ(EscapeControl("Grüße, 世界"), "Grüße, 世界");
}

TEST(EscapeControl, ControlsOfTwoBytesTurnedWritingAndStrayBytesAreEscaped) {
  EXPECT_EQ(EscapeControl("a\xc2\x9b"
                          "31m"),
            "a\\xc2\\x9b31m");
  EXPECT_EQ(EscapeControl("\xe2\x80\xae txt.exe"), "\\xe2\\x80\\xae txt.exe");
  EXPECT_EQ(EscapeControl("cut \xe4\xb8"), "cut \\xe4\\xb8");
}

}  // namespace
}  // namespace muster
