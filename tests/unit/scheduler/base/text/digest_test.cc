#include "scheduler/base/text/digest.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Digest, ItsDigitsAreThoseAfterTheScheme) {
  const std::string digits(64, 'a');
  EXPECT_EQ(DigestDigits("sha256:" + digits), digits);
  EXPECT_TRUE(IsDigest("sha256:" + digits));
}

TEST(Digest, WhatIsNoneHasNone) {
  const std::string digits(64, 'a');
  for (const std::string& text :
       {std::string(), std::string("sha256:"), digits, "sha256:" + digits.substr(1),
        "sha256:" + digits + "a", "sha512:" + digits, "SHA256:" + digits,
        "sha256:" + digits.substr(1) + "A", "sha256:" + digits.substr(1) + "/",
        " sha256:" + digits.substr(1)}) {
    EXPECT_FALSE(IsDigest(text)) << text;
  }
}

}  // namespace
}  // namespace muster
