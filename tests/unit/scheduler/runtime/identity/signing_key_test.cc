#include "scheduler/runtime/identity/signing_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

constexpr const char* kPurpose = "a test\n";

VerifyingKey OtherHalf(const SigningKey& key) {
  return VerifyingKey::FromPem(key.PublicPem().value()).value();
}

TEST(SigningKeyTest, WhatWasSignedIsVerifiedAndNothingElse) {
  const SigningKey key = SigningKey::Generate().value();
  const VerifyingKey half = OtherHalf(key);
  const std::string bytes = "launch job 7 on n1";
  const std::string signature = key.Sign(kPurpose, bytes).value();
  EXPECT_EQ(signature.size(), 64U);
  EXPECT_TRUE(half.Verifies(kPurpose, bytes, signature));
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(half.Verifies(kPurpose, changed, signature)) << "bit " << bit;
  }
  for (std::size_t bit = 0; bit < signature.size() * 8; ++bit) {
    std::string changed = signature;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(half.Verifies(kPurpose, bytes, changed)) << "bit " << bit;
  }
  EXPECT_FALSE(half.Verifies(kPurpose, bytes + '\0', signature));
  EXPECT_FALSE(half.Verifies(kPurpose, "", signature));
  EXPECT_FALSE(half.Verifies(kPurpose, bytes, ""));
}

TEST(SigningKeyTest, ASignatureForOnePurposeIsNoneForAnother) {
  const SigningKey key = SigningKey::Generate().value();
  const std::string signature = key.Sign(kPurpose, "bytes").value();
  EXPECT_FALSE(OtherHalf(key).Verifies("a tes", "t\nbytes", signature));
  EXPECT_FALSE(OtherHalf(key).Verifies("another\n", "bytes", signature));
}

TEST(SigningKeyTest, AnotherKeyVerifiesNothing) {
  const std::string signature = SigningKey::Generate()->Sign(kPurpose, "bytes").value();
  EXPECT_FALSE(OtherHalf(SigningKey::Generate().value()).Verifies(kPurpose, "bytes", signature));
  EXPECT_FALSE(VerifyingKey().Verifies(kPurpose, "bytes", signature));
}

TEST(SigningKeyTest, AKeyIsTheSameAfterItWasKeptInAFile) {
  const TempDirectory temp;
  const std::string path = temp / "order.key";
  EXPECT_TRUE(absl::IsNotFound(SigningKey::Open(path, /*make=*/false).status()));
  const SigningKey made = SigningKey::Open(path, /*make=*/true).value();
  const SigningKey kept = SigningKey::Open(path, /*make=*/true).value();
  EXPECT_EQ(made.PublicPem().value(), kept.PublicPem().value());
  struct stat info = {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
}

TEST(SigningKeyTest, AFileThatHoldsNoKeyIsNamed) {
  const TempDirectory temp;
  const std::string path = temp / "order.key";
  ASSERT_TRUE(WriteFileAtomically(path, "rubbish").ok());
  const absl::Status status = SigningKey::Open(path, /*make=*/true).status();
  EXPECT_NE(status.message().find(path), std::string::npos) << status;
  EXPECT_FALSE(VerifyingKey::FromPem("rubbish").ok());
}

}  // namespace
}  // namespace muster
