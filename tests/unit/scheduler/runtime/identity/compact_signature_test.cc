#include "scheduler/runtime/identity/compact_signature.h"

#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

std::string Encoded(const std::string& text) {
  return absl::WebSafeBase64Escape(text);
}

class CompactSignatureTest : public ::testing::Test {
 protected:
  const SigningKey key_ = SigningKey::Generate().value();
  const std::string text_ = SignCompact(key_, R"({"sub":"ada"})").value();

  bool Opens(const std::string& text) const { return OpenCompact(key_, text).ok(); }
};

TEST_F(CompactSignatureTest, WhatWasSignedIsReadBack) {
  EXPECT_EQ(OpenCompact(key_, text_).value(), R"({"sub":"ada"})");
  EXPECT_EQ(text_.find_first_of("=+/\n"), std::string::npos) << text_;
}

TEST_F(CompactSignatureTest, AnotherKeyOpensNothing) {
  EXPECT_TRUE(absl::IsUnauthenticated(OpenCompact(SigningKey::Generate().value(), text_).status()));
  EXPECT_FALSE(OpenCompact(SigningKey(), text_).ok());
}

TEST_F(CompactSignatureTest, NoByteCanBeChanged) {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    std::string changed = text_;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(Opens(changed)) << i;
  }
}

TEST_F(CompactSignatureTest, NoTextChoosesHowItIsChecked) {
  const std::string payload = Encoded(R"({"sub":"root"})");
  const std::string signature = text_.substr(text_.rfind('.') + 1);
  for (const char* header : {R"({"alg":"none","typ":"JWT"})", R"({"alg":"HS256","typ":"JWT"})",
                             R"({"alg":"EdDSA"})", "{}", ""}) {
    EXPECT_FALSE(Opens(absl::StrCat(Encoded(header), ".", payload, ".", signature))) << header;
    EXPECT_FALSE(Opens(absl::StrCat(Encoded(header), ".", payload, "."))) << header;
  }
}

TEST_F(CompactSignatureTest, WhatIsNoSuchTextIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("."), std::string(".."), std::string("a.b.c"), text_ + ".",
        text_ + "=", text_ + "A", " " + text_, text_.substr(0, text_.size() - 1),
        text_ + std::string(kCompactBytesMax, 'A'), std::string(5000, '.')}) {
    EXPECT_FALSE(Opens(text)) << text.substr(0, 80);
  }
}

}  // namespace
}  // namespace muster
