#include "proto/convert/wire_format.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::convert {
namespace {

TEST(WireFormat, ANumberComesBackAsItWasInSevenBitsAByte) {
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128},
                                     std::uint64_t{300}, UINT64_MAX}) {
    std::string bytes;
    PutVarint(number, &bytes);
    Cursor cursor(bytes);
    std::uint64_t back = 1;
    ASSERT_TRUE(cursor.Varint(&back)) << number;
    EXPECT_EQ(back, number);
    EXPECT_TRUE(cursor.AtEnd()) << number;
  }
  std::string bytes;
  PutVarint(300, &bytes);
  EXPECT_EQ(bytes, "\xAC\x02");
}

TEST(WireFormat, ANumberThatIsCutOffOrTooLongIsNone) {
  std::uint64_t number = 0;
  EXPECT_FALSE(Cursor("").Varint(&number));
  EXPECT_FALSE(Cursor("\x80").Varint(&number));
  EXPECT_FALSE(Cursor(std::string(10, '\x80') + "\x01").Varint(&number));
}

TEST(WireFormat, ATagHasItsFieldAndItsType) {
  std::string bytes;
  PutTag(16, WireType::kFixed32, &bytes);
  Cursor cursor(bytes);
  std::uint32_t field = 0;
  WireType type = WireType::kVarint;
  ASSERT_TRUE(cursor.Tag(&field, &type));
  EXPECT_EQ(field, 16U);
  EXPECT_EQ(type, WireType::kFixed32);
}

TEST(WireFormat, NoFieldHasTheNumberZero) {
  std::uint32_t field = 0;
  WireType type = WireType::kVarint;
  EXPECT_FALSE(Cursor("\x02").Tag(&field, &type));
}

TEST(WireFormat, ALengthBeyondTheEndIsRefused) {
  std::string_view bytes;
  EXPECT_FALSE(Cursor("\x04"
                      "abc")
                   .Bytes(&bytes));
  Cursor cursor("\x03"
                "abcd");
  ASSERT_TRUE(cursor.Bytes(&bytes));
  EXPECT_EQ(bytes, "abc");
  EXPECT_FALSE(cursor.AtEnd());
}

TEST(WireFormat, WhatIsNestedHasItsLengthBeforeItHoweverLongItIs) {
  for (const std::size_t length : {std::size_t{5}, std::size_t{127}, std::size_t{128},
                                   std::size_t{20'000}}) {
    const std::string content(length, 'x');
    std::string nested = "before";
    PutNested(3, &nested, [&] { nested += content; });
    std::string whole = "before";
    PutBytes(3, content, &whole);
    EXPECT_EQ(nested, whole) << length;
  }
}

TEST(WireFormat, WhatIsSkippedIsLeftBehindWhole) {
  std::string bytes;
  PutVarint(300, &bytes);
  bytes += std::string(8, 'f') + std::string(4, 'f') + "\x02zz";
  bytes += "\x07";
  Cursor cursor(bytes);
  EXPECT_TRUE(cursor.Skip(WireType::kVarint));
  EXPECT_TRUE(cursor.Skip(WireType::kFixed64));
  EXPECT_TRUE(cursor.Skip(WireType::kFixed32));
  EXPECT_TRUE(cursor.Skip(WireType::kBytes));
  std::uint64_t last = 0;
  ASSERT_TRUE(cursor.Varint(&last));
  EXPECT_EQ(last, 7U);
  EXPECT_FALSE(Cursor("abc").Skip(WireType::kFixed32));
}

}  // namespace
}  // namespace muster::convert
