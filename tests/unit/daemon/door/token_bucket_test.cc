#include "daemon/door/token_bucket.h"

#include <gtest/gtest.h>

namespace muster::daemon {
namespace {

constexpr SteadyTime kStart{std::chrono::hours(1)};

TEST(TokenBucket, WhatWasSpentComesBackWithTime) {
  TokenBucket bucket;
  bucket.Refill(2, kStart);
  bucket.Spend(10);
  bucket.Refill(2, kStart + std::chrono::milliseconds(1500));
  EXPECT_DOUBLE_EQ(bucket.spent(), 7);
  bucket.Refill(2, kStart + std::chrono::milliseconds(2000));
  EXPECT_DOUBLE_EQ(bucket.spent(), 6);
}

TEST(TokenBucket, NothingComesBackBeyondWhatWasSpent) {
  TokenBucket bucket;
  bucket.Refill(2, kStart);
  bucket.Spend(1);
  bucket.Refill(2, kStart + std::chrono::hours(1));
  EXPECT_EQ(bucket.spent(), 0);
  bucket.GiveBack(5);
  EXPECT_EQ(bucket.spent(), 0);
}

TEST(TokenBucket, TheFirstLookBringsNothingBack) {
  TokenBucket bucket;
  bucket.Spend(3);
  bucket.Refill(1000, kStart);
  EXPECT_DOUBLE_EQ(bucket.spent(), 3);
}

TEST(TokenBucket, ATimeThatGoesBackBringsNothingBackTwice) {
  TokenBucket bucket;
  bucket.Refill(1, kStart);
  bucket.Spend(10);
  bucket.Refill(1, kStart + std::chrono::seconds(4));
  bucket.Refill(1, kStart);
  bucket.Refill(1, kStart + std::chrono::seconds(4));
  EXPECT_DOUBLE_EQ(bucket.spent(), 6);
}

TEST(TokenBucket, ARateOfZeroBringsNothingBack) {
  TokenBucket bucket;
  bucket.Refill(0, kStart);
  bucket.Spend(1);
  bucket.Refill(0, kStart + std::chrono::hours(1));
  EXPECT_DOUBLE_EQ(bucket.spent(), 1);
}

}  // namespace
}  // namespace muster::daemon
