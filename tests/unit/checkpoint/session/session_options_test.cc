#include "checkpoint/session/session_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace muster::checkpoint {
namespace {

using ::testing::StartsWith;

SessionOptions Good() {
  SessionOptions options;
  options.directory = "/tmp";
  options.job = "job7";
  return options;
}

TEST(SessionOptionsTest, WhatIsWrongIsNamed) {
  EXPECT_FALSE(CheckOptions(Good()).failed());
  const auto text = [](auto change) {
    SessionOptions options = Good();
    change(options);
    return CheckOptions(options).text;
  };
  EXPECT_THAT(text([](SessionOptions& o) { o.job = "a/b"; }), StartsWith("job: "));
  EXPECT_THAT(text([](SessionOptions& o) { o.ranks = 0; }), StartsWith("rank: "));
  EXPECT_THAT(text([](SessionOptions& o) { o.rank = 1; }), StartsWith("rank: "));
  EXPECT_THAT(text([](SessionOptions& o) { o.keep = 0; }), StartsWith("keep: "));
  EXPECT_THAT(text([](SessionOptions& o) { o.age_s = std::nan(""); }), StartsWith("age: "));
  EXPECT_THAT(text([](SessionOptions& o) { o.interval_s = -1; }), StartsWith("interval: "));
  EXPECT_THAT(text([](SessionOptions& o) { o.hardware = std::string(256, 'x'); }),
              StartsWith("topology, software, hardware: "));
}

TEST(SessionOptionsTest, SeveralRanksHaveALocalLevelOnlyTogether) {
  SessionOptions options = Good();
  options.local_directory = "/tmp";
  EXPECT_FALSE(CheckOptions(options).failed());
  options.ranks = 2;
  EXPECT_THAT(CheckOptions(options).text, StartsWith("local directory: "));
  options.together = true;
  EXPECT_FALSE(CheckOptions(options).failed());
}

TEST(SessionOptionsTest, WhatOnlyRankZeroDoesIsRefusedOnAnother) {
  SessionOptions options = Good();
  options.ranks = 2;
  EXPECT_FALSE(CheckRankZero(options, "begin").failed());
  options.rank = 1;
  EXPECT_EQ(CheckRankZero(options, "begin").text, "begin: is rank 0's");
  EXPECT_EQ(CheckRankZero(options, "begin").fault, Fault::kUsage);
}

}  // namespace
}  // namespace muster::checkpoint
