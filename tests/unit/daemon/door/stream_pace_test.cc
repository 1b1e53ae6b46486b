#include "daemon/door/stream_pace.h"

#include <gtest/gtest.h>

#include <chrono>

namespace muster::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const SteadyTime kStart = SteadyTime() + seconds(1000);

TEST(StreamPace, AnAgentThatStartsAThousandJobsASecondIsNeverHeldUp) {
  StreamPace pace;
  SteadyTime now = kStart;
  for (int i = 0; i < 60'000; ++i) {  // a minute of six reports a job, one in a message
    for (int report = 0; report < 6; ++report) {
      ASSERT_EQ(pace.Take(0, 500, now), Duration(0)) << i;
    }
    now += milliseconds(1);
  }
}

TEST(StreamPace, WhatAnAgentHasGatheredWhileItWasAwayIsReadAtOnce) {
  StreamPace pace;
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(pace.Take(2000, 1 << 20, kStart), Duration(0));
  }
}

TEST(StreamPace, AFloodOfMessagesIsReadNoFasterThanItMay) {
  StreamPace pace;
  SteadyTime now = kStart;
  int read = 0;
  while (now < kStart + seconds(10)) {
    now += pace.Take(0, 100, now);
    ++read;
  }
  EXPECT_LT(read, StreamPace::kMessagesAtOnce + 11 * StreamPace::kMessagesASecond);
  EXPECT_GT(read, StreamPace::kMessagesAtOnce);
}

TEST(StreamPace, ReportsInOneMessageAndBytesCountToo) {
  StreamPace many;
  EXPECT_EQ(many.Take(200'000, 1, kStart), StreamPace::kWaitMost);
  StreamPace large;
  Duration wait{0};
  for (int i = 0; i < 5; ++i) {
    wait = large.Take(0, 16 << 20, kStart);
  }
  EXPECT_GT(wait, Duration(0));
  EXPECT_LE(wait, StreamPace::kWaitMost);
}

}  // namespace
}  // namespace muster::daemon
