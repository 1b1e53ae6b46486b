#include "scheduler/runtime/mac.h"

#include <gtest/gtest.h>

#include "absl/strings/escaping.h"

namespace muster {
namespace {

std::string Hex(const std::string& bytes) {
  return absl::BytesToHexString(bytes);
}

// RFC 4231, cases 1, 2 and 6.
TEST(MacTest, IsHmacSha256AsPublished) {
  EXPECT_EQ(Hex(MacOf(std::string(20, '\x0b'), {"Hi There"})),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(Hex(MacOf("Jefe", {"what do ya want for nothing?"})),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(Hex(MacOf(std::string(131, '\xaa'),
                      {"Test Using Larger Than Block-Size Key - Hash Key First"})),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(MacTest, PartsCountAsOneText) {
  EXPECT_EQ(MacOf("key", {"ab", "", "c"}), MacOf("key", {"abc"}));
  EXPECT_NE(MacOf("key", {"abc"}), MacOf("yek", {"abc"}));
}

// FIPS 180-4's examples.
TEST(MacTest, TheHashOfPiecesIsThatOfTheWhole) {
  Sha256 empty;
  EXPECT_EQ(empty.Hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 pieces;
  pieces.Add("a");
  pieces.Add("bc");
  EXPECT_EQ(pieces.Hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(MacTest, SameBytesAreTheSameToTheLast) {
  EXPECT_TRUE(SameBytes("", ""));
  EXPECT_TRUE(SameBytes("abc", "abc"));
  EXPECT_FALSE(SameBytes("abc", "abd"));
  EXPECT_FALSE(SameBytes("abc", "ab"));
}

TEST(MacTest, RandomBytesAreAsManyAsAskedAndNeverTheSame) {
  EXPECT_EQ(RandomBytes(0).value(), "");
  EXPECT_EQ(RandomBytes(32).value().size(), 32U);
  EXPECT_NE(RandomBytes(32).value(), RandomBytes(32).value());
}

}  // namespace
}  // namespace muster
