#include "daemon/agents/delivery_watch.h"

#include <gtest/gtest.h>

namespace muster::daemon {
namespace {

using Launched = DeliveryWatch::Launched;

const NodeId kNode(1);
const Launched kFirst(JobId(1), AttemptNumber(1));
const Launched kSecond(JobId(2), AttemptNumber(1));
const Launched kThird(JobId(3), AttemptNumber(1));

KnownAttempt Known(const Launched& launched) {
  return KnownAttempt{launched.first, launched.second, false, {}};
}

class DeliveryWatchTest : public ::testing::Test {
 protected:
  // The orders go out, the stream breaks, and the agent is back with those attempts.
  std::optional<Launched> Break(const std::vector<Launched>& sent,
                                const std::vector<KnownAttempt>& known) {
    for (const Launched& order : sent) {
      watch_.Sent(kNode, order, now_);
    }
    watch_.Broke(kNode, now_ + after_);
    return watch_.Back(kNode, known);
  }

  DeliveryWatch watch_;
  DeliveryWatch::Now now_ = std::chrono::steady_clock::now();
  std::chrono::seconds after_{0};
};

TEST_F(DeliveryWatchTest, AnOrderThatBreaksItsStreamThreeTimesIsNotSentAgain) {
  EXPECT_EQ(Break({kFirst}, {}), std::nullopt);
  EXPECT_EQ(Break({kFirst}, {}), std::nullopt);
  EXPECT_TRUE(watch_.MayGo(kNode, kFirst));
  EXPECT_EQ(Break({kFirst}, {}), kFirst);
  EXPECT_FALSE(watch_.MayGo(kNode, kFirst));
  EXPECT_TRUE(watch_.MayGo(NodeId(2), kFirst));
  EXPECT_TRUE(watch_.MayGo(kNode, kSecond));
}

TEST_F(DeliveryWatchTest, OfManyTheFirstThatDidNotArriveIsSuspected) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Break({kFirst, kSecond, kThird}, {Known(kFirst)}), std::nullopt);
  }
  EXPECT_EQ(Break({kFirst, kSecond, kThird}, {Known(kFirst)}), kSecond);
  EXPECT_TRUE(watch_.MayGo(kNode, kThird));
}

TEST_F(DeliveryWatchTest, OneThatArrivesInBetweenIsNoLongerSuspected) {
  Break({kFirst}, {});
  Break({kFirst}, {});
  EXPECT_EQ(Break({kFirst}, {Known(kFirst)}), std::nullopt);
  EXPECT_EQ(Break({kFirst}, {}), std::nullopt);
  EXPECT_TRUE(watch_.MayGo(kNode, kFirst));
}

TEST_F(DeliveryWatchTest, AStreamThatTheControllerEndedAccusesNobody) {
  for (int i = 0; i < 5; ++i) {
    watch_.Sent(kNode, kFirst, now_);
    EXPECT_EQ(watch_.Back(kNode, {}), std::nullopt);
  }
}

TEST_F(DeliveryWatchTest, AStreamThatBreaksMuchLaterAccusesNobody) {
  after_ = DeliveryWatch::kSoon + std::chrono::seconds(1);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Break({kFirst}, {}), std::nullopt);
  }
}

TEST_F(DeliveryWatchTest, BreaksWithoutAnOrderAccuseNobody) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Break({}, {}), std::nullopt);
  }
}

}  // namespace
}  // namespace muster::daemon
