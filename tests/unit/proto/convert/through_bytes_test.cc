#include "proto/convert/through_bytes.h"

#include <gtest/gtest.h>

#include "proto/job.pb.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::convert {
namespace {

TEST(ThroughBytes, AValueBecomesAMessageAndComesBack) {
  const User ada{1000, 100, "ada"};
  wire::User message;
  WriteThroughBytes(ada, &message);
  EXPECT_EQ(message.uid(), 1000U);
  EXPECT_EQ(message.gid(), 100U);
  EXPECT_EQ(message.name(), "ada");
  User back;
  ASSERT_TRUE(ReadThroughBytes(message, &back).ok());
  EXPECT_EQ(back, ada);
}

TEST(ThroughBytes, WhatTheValueLeavesOpenStaysAsTheMessageHadIt) {
  wire::User message;
  message.set_name("before");
  message.set_gid(7);
  WriteThroughBytes(User{1000, 0, ""}, &message);
  EXPECT_EQ(message.uid(), 1000U);
  EXPECT_EQ(message.gid(), 7U);
  EXPECT_EQ(message.name(), "before");
}

TEST(ThroughBytes, WhatTheMessageLeavesOpenIsZeroInTheValue) {
  User back{1000, 100, "ada"};
  ASSERT_TRUE(ReadThroughBytes(wire::User(), &back).ok());
  EXPECT_EQ(back, User());
}

}  // namespace
}  // namespace muster::convert
