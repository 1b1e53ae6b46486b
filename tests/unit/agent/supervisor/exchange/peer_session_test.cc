#include "agent/supervisor/exchange/peer_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

using ::testing::SizeIs;

PeerSelf Self(std::uint32_t position, const std::string& secret = "the secret") {
  return PeerSelf{.secret = secret, .step = "muster.7.1.0", .position = position};
}

wire::PeerFrame Word(const std::string& text) {
  wire::PeerFrame frame;
  frame.mutable_gather()->set_data(text);
  return frame;
}

// What one side has to say, taken by the other.
absl::Status Pass(PeerSession& from, PeerSession& to, std::vector<wire::PeerFrame>* frames) {
  return to.Take(from.TakeOutgoing(), frames);
}

struct Pair {
  PeerSession caller = PeerSession::Call(Self(3), 0).value();
  PeerSession answerer = PeerSession::Answer(Self(0)).value();
  std::vector<wire::PeerFrame> frames;
  Pair() {
    EXPECT_TRUE(Pass(caller, answerer, &frames).ok());
    EXPECT_TRUE(Pass(answerer, caller, &frames).ok());
    EXPECT_TRUE(Pass(caller, answerer, &frames).ok());
  }
};

TEST(PeerSessionTest, TwoWhoKnowTheSecretProveItAndTalk) {
  Pair pair;
  ASSERT_TRUE(pair.caller.proved() && pair.answerer.proved());
  EXPECT_EQ(pair.answerer.peer(), 3U);
  EXPECT_THAT(pair.frames, SizeIs(0));
  pair.caller.Send(Word("up"));
  pair.caller.Send(Word("again"));
  ASSERT_TRUE(Pass(pair.caller, pair.answerer, &pair.frames).ok());
  ASSERT_THAT(pair.frames, SizeIs(2));
  EXPECT_EQ(pair.frames[1].gather().data(), "again");
  pair.answerer.Send(Word("down"));
  ASSERT_TRUE(Pass(pair.answerer, pair.caller, &pair.frames).ok());
  EXPECT_EQ(pair.frames.back().gather().data(), "down");
}

TEST(PeerSessionTest, ACallerWithAnotherSecretIsRefused) {
  PeerSession caller = PeerSession::Call(Self(3, "a guess"), 0).value();
  PeerSession answerer = PeerSession::Answer(Self(0)).value();
  std::vector<wire::PeerFrame> frames;
  ASSERT_TRUE(Pass(caller, answerer, &frames).ok());
  EXPECT_EQ(Pass(answerer, caller, &frames).code(), absl::StatusCode::kPermissionDenied)
      << "who answers has another secret than the caller's";
  wire::PeerFrame proof;
  proof.mutable_proof()->set_proof(std::string(32, 'x'));
  const std::string body = proof.SerializeAsString();
  EXPECT_EQ(
      answerer.Take(std::string({static_cast<char>(body.size()), 0, 0, 0}) + body, &frames).code(),
      absl::StatusCode::kPermissionDenied);
  EXPECT_FALSE(answerer.proved());
}

TEST(PeerSessionTest, ACallForAnotherStepOrNodeIsRefused) {
  std::vector<wire::PeerFrame> frames;
  PeerSession answerer = PeerSession::Answer(Self(1)).value();
  PeerSession lost = PeerSession::Call(Self(3), 0).value();
  EXPECT_FALSE(Pass(lost, answerer, &frames).ok());
  PeerSelf other = Self(3);
  other.step = "muster.8.1.0";
  PeerSession elsewhere = PeerSession::Call(other, 1).value();
  PeerSession again = PeerSession::Answer(Self(1)).value();
  EXPECT_FALSE(Pass(elsewhere, again, &frames).ok());
}

TEST(PeerSessionTest, AProofOverheardIsOfNoUseOnAnotherConnection) {
  PeerSession caller = PeerSession::Call(Self(3), 0).value();
  PeerSession answerer = PeerSession::Answer(Self(0)).value();
  std::vector<wire::PeerFrame> frames;
  const std::string hello = caller.TakeOutgoing();
  ASSERT_TRUE(answerer.Take(hello, &frames).ok());
  ASSERT_TRUE(Pass(answerer, caller, &frames).ok());
  const std::string proof = caller.TakeOutgoing();
  PeerSession second = PeerSession::Answer(Self(0)).value();
  ASSERT_TRUE(second.Take(hello, &frames).ok());
  EXPECT_EQ(second.Take(proof, &frames).code(), absl::StatusCode::kPermissionDenied);
}

TEST(PeerSessionTest, AFrameSentAgainOrOutOfOrderIsRefused) {
  Pair pair;
  pair.caller.Send(Word("one"));
  const std::string one = pair.caller.TakeOutgoing();
  pair.caller.Send(Word("two"));
  const std::string two = pair.caller.TakeOutgoing();
  EXPECT_TRUE(pair.answerer.Take(one, &pair.frames).ok());
  EXPECT_EQ(pair.answerer.Take(one, &pair.frames).code(), absl::StatusCode::kPermissionDenied);
  Pair other;
  other.caller.Send(Word("one"));
  other.caller.TakeOutgoing();
  other.caller.Send(Word("two"));
  EXPECT_EQ(other.answerer.Take(other.caller.TakeOutgoing(), &other.frames).code(),
            absl::StatusCode::kPermissionDenied);
  Pair mirrored;
  mirrored.caller.Send(Word("mine"));
  EXPECT_EQ(mirrored.caller.Take(mirrored.caller.TakeOutgoing(), &mirrored.frames).code(),
            absl::StatusCode::kPermissionDenied)
      << "sent back to its maker";
}

RC_GTEST_PROP(PeerSessionTest, AnyByteChangedOnTheWayIsNoticed, ()) {
  Pair pair;
  pair.caller.Send(Word(*rc::gen::arbitrary<std::string>()));
  std::string bytes = pair.caller.TakeOutgoing();
  const auto at = *rc::gen::inRange<std::size_t>(4, bytes.size());
  bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(*rc::gen::inRange(1, 128)));
  RC_ASSERT(!pair.answerer.Take(bytes, &pair.frames).ok());
  RC_ASSERT(pair.frames.empty());
}

RC_GTEST_PROP(PeerSessionTest, FramesAreTheSameHoweverTheBytesAreCut, ()) {
  Pair pair;
  const auto words = *rc::gen::arbitrary<std::vector<std::string>>();
  for (const std::string& word : words) {
    pair.caller.Send(Word(word));
  }
  const std::string bytes = pair.caller.TakeOutgoing();
  for (std::size_t at = 0; at < bytes.size();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 40);
    RC_ASSERT(pair.answerer.Take(std::string_view(bytes).substr(at, size), &pair.frames).ok());
    at += size;
  }
  RC_ASSERT(pair.frames.size() == words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    RC_ASSERT(pair.frames[i].gather().data() == words[i]);
  }
}

RC_GTEST_PROP(PeerSessionTest, GarbageNeverProvesAnything, (std::string bytes)) {
  PeerSession answerer = PeerSession::Answer(Self(0)).value();
  std::vector<wire::PeerFrame> frames;
  answerer.Take(bytes, &frames).IgnoreError();
  RC_ASSERT(!answerer.proved());
  RC_ASSERT(frames.empty());
}

TEST(PeerSessionTest, AStrangerCannotMakeUsKeepMuch) {
  PeerSession answerer = PeerSession::Answer(Self(0)).value();
  std::vector<wire::PeerFrame> frames;
  EXPECT_FALSE(answerer.Take(std::string("\xff\xff\xff\x00", 4), &frames).ok());
  Pair pair;
  EXPECT_FALSE(pair.answerer.Take(std::string("\xff\xff\xff\xff", 4), &pair.frames).ok());
}

}  // namespace
}  // namespace muster::agent
