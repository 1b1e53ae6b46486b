#include "agent/supervisor/sessions/session_packet.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::agent {
namespace {

using std::string_literals::operator""s;

TEST(SessionPacketTest, AQuestionIsReadAsItWasWritten) {
  for (const bool enters : {false, true}) {
    const auto read = ParseSessionQuestion(ToPacket(SessionQuestion{enters, 4294967295U}));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->enters, enters);
    EXPECT_EQ(read->uid, 4294967295U);
  }
}

TEST(SessionPacketTest, WhatIsNoQuestionIsNotRead) {
  for (const char* packet : {"", "may", "may ", "may x", "may 1 2", "may -1", "may 4294967296",
                             "enter", "ENTER 1", "may 1\n", "enter  1"}) {
    EXPECT_FALSE(ParseSessionQuestion(packet).has_value()) << packet;
  }
}

TEST(SessionPacketTest, AnAnswerIsReadAsItWasWritten) {
  const SessionAnswer answer{"", "7_3", 1234567890123, {"A=1", "B=two\nlines", "C="}};
  const auto read = ParseSessionAnswer(ToPacket(answer));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->refusal, "");
  EXPECT_EQ(read->job, "7_3");
  EXPECT_EQ(read->started_ms, 1234567890123);
  EXPECT_EQ(read->environment, answer.environment);
  const auto refused = ParseSessionAnswer(ToPacket({"it ends", "7", -1, {}}));
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->refusal, "it ends");
}

TEST(SessionPacketTest, AnEnvironmentThatIsTooLongStaysOut) {
  const SessionAnswer answer{"", "7", 1, {"A=" + std::string(kSessionPacketBytes, 'x')}};
  const auto read = ParseSessionAnswer(ToPacket(answer));
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->environment.empty());
  EXPECT_EQ(read->job, "7");
}

TEST(SessionPacketTest, WhatIsNoAnswerIsNotRead) {
  for (const std::string& packet :
       {""s, "yes"s, "yes\0\0"s, "yes\0\0007\0x\0"s, "yes\0\0007\0001"s, "no\0\0007\0001\0"s,
        "yes\0why\0007\0001\0"s, "maybe\0\0007\0001\0"s}) {
    EXPECT_FALSE(ParseSessionAnswer(packet).has_value()) << packet;
  }
  EXPECT_FALSE(ParseSessionAnswer("yes\0\0007\0001\0"s + std::string(kSessionPacketBytes, '\0'))
                   .has_value());
}

}  // namespace
}  // namespace muster::agent
