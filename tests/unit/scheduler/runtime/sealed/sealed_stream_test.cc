#include "scheduler/runtime/sealed/sealed_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kToken = "0123456789abcdef0123456789abcdef";
const std::string kOther = "fedcba9876543210fedcba9876543210";

class SealedStreamTest : public ::testing::Test {
 protected:
  SealedStreamTest() : caller_(SealedStream::Call(kToken, &preface_).value()) {}
  // What is on the wire for `plain`.
  std::string Said(const std::string& plain) { return caller_.Seal(plain).value(); }
  absl::Status Hear(const std::string& bytes) {
    return answer_.Take(bytes, {kOther, kToken}, &seen_, &heard_);
  }

  std::string preface_;
  SealedStream caller_;
  SealedAnswer answer_;
  std::set<std::string> seen_;
  std::string heard_;
};

TEST_F(SealedStreamTest, BothEndsHearWhatTheOtherSaid) {
  const std::string first = Said("hello");  // one after the other: each has its number
  ASSERT_TRUE(Hear(preface_ + first + Said(" there")).ok());
  EXPECT_EQ(heard_, "hello there");
  std::string back;
  ASSERT_TRUE(caller_.Open(answer_.Seal("and back").value(), &back).ok());
  EXPECT_EQ(back, "and back");
}

TEST_F(SealedStreamTest, NothingOfItIsOnTheWire) {
  const std::string wire = preface_ + Said(kToken + " a secret " + std::string(100, 'x'));
  for (const char* part : {"secret", "0123456789abcdef", "xxxx"}) {
    EXPECT_THAT(wire, Not(HasSubstr(part)));
  }
}

TEST_F(SealedStreamTest, PiecesAndLargeTextsArriveWhole) {
  const std::string large(200'000, 'l');
  const std::string small = Said("small");
  const std::string wire = preface_ + small + Said(large);
  for (std::size_t at = 0; at < wire.size(); at += 1009) {
    ASSERT_TRUE(Hear(wire.substr(at, 1009)).ok());
  }
  EXPECT_EQ(heard_, "small" + large);
}

TEST_F(SealedStreamTest, AnyChangedByteIsNoticed) {
  const std::string wire = preface_ + Said("text");
  for (std::size_t i = 0; i < wire.size(); ++i) {
    std::string changed = wire;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    SealedAnswer answer;
    std::set<std::string> seen;
    std::string plain;
    const absl::Status status = answer.Take(changed, {kToken}, &seen, &plain);
    EXPECT_EQ(plain, "") << "byte " << i;
    EXPECT_FALSE(answer.known()) << status;
  }
}

TEST_F(SealedStreamTest, ARecordThatIsLeftOutOrComesTwiceIsNoticed) {
  ASSERT_TRUE(Hear(preface_ + Said("one")).ok());
  const std::string two = Said("two");
  const std::string three = Said("three");
  EXPECT_FALSE(Hear(three).ok());
  SealedAnswer again;
  std::set<std::string> seen;
  std::string plain;
  SealedStream caller = SealedStream::Call(kToken, &preface_).value();
  const std::string first = caller.Seal("first").value();
  EXPECT_FALSE(again.Take(preface_ + first + first, {kToken}, &seen, &plain).ok());
}

TEST_F(SealedStreamTest, AStreamThatIsPlayedAgainIsRefused) {
  const std::string wire = preface_ + Said("once");
  ASSERT_TRUE(Hear(wire).ok());
  SealedAnswer again;
  std::string plain;
  EXPECT_THAT(std::string(again.Take(wire, {kToken}, &seen_, &plain).message()),
              HasSubstr("played again"));
  EXPECT_EQ(plain, "");
}

TEST_F(SealedStreamTest, WhoHasNoTokenIsRefused) {
  std::string plain;
  EXPECT_THAT(std::string(answer_.Take(preface_ + Said("x"), {kOther}, &seen_, &plain).message()),
              HasSubstr("the peer does not have this step's token"));
}

TEST_F(SealedStreamTest, WhatIsNoSealedStreamIsRefusedAndLittleIsKept) {
  std::string hello(100, '\0');
  hello[0] = 40;
  EXPECT_FALSE(Hear(hello).ok());
  EXPECT_FALSE(SealedStream::Answer(kToken, hello.substr(0, 40)).ok());
  SealedAnswer answer;
  std::string plain;
  EXPECT_FALSE(answer.Take(preface_ + "\xff\xff\xff\x7f", {kToken}, &seen_, &plain).ok())
      << "a record of two gigabytes";
}

TEST_F(SealedStreamTest, ItsTwoWaysHaveKeysOfTheirOwn) {
  ASSERT_TRUE(Hear(preface_ + Said("one")).ok());
  std::string plain;
  EXPECT_FALSE(caller_.Open(Said("mine"), &plain).ok()) << "what we said is not an answer";
}

}  // namespace
}  // namespace muster
