#include "daemon/leading/lead_turns.h"

#include <gtest/gtest.h>

namespace muster::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLease{2000};

// The machine, and whoever makes its moves by hand.
class LeadTurnsTest : public ::testing::Test {
 protected:
  // Expects that move, and makes it.
  void Make(LeadMove move, const absl::Status& status = absl::OkStatus(),
            milliseconds took = milliseconds(1)) {
    LeadOutcome outcome;
    outcome.status = status;
    outcome.done = true;
    Make(move, outcome, took);
  }
  void Make(LeadMove move, LeadOutcome outcome, milliseconds took = milliseconds(1)) {
    ASSERT_EQ(turns_.move(), move);
    outcome.asked = now_;
    now_ += took;
    outcome.now = now_;
    turns_.Made(outcome);
  }
  void MakeReadRow(milliseconds lease_left) {
    LeadOutcome outcome;
    outcome.row.lease = lease_left;
    Make(LeadMove::kReadRow, outcome);
  }
  void WatchOnce(milliseconds lease_left) {
    Make(LeadMove::kAwaitNews);
    Make(LeadMove::kCatchUp);
    if (turns_.move() == LeadMove::kRefresh) {
      Make(LeadMove::kRefresh);
    }
    MakeReadRow(lease_left);
  }
  void BeginToLead() {
    WatchOnce(milliseconds(0));
    Make(LeadMove::kTake);
    Make(LeadMove::kCatchUp);
    Make(LeadMove::kRefresh);
    Make(LeadMove::kBegin);
  }

  LeadTurns::Moment now_{std::chrono::hours(1)};
  LeadTurns turns_{kLease, now_};
  const absl::Status gone_ = absl::UnavailableError("gone");
};

TEST_F(LeadTurnsTest, AStandbyFollowsAndLeavesALeadThatLastsAlone) {
  WatchOnce(milliseconds(1));
  WatchOnce(milliseconds(1));
  EXPECT_EQ(turns_.move(), LeadMove::kAwaitNews);
  EXPECT_FALSE(turns_.leads());
}

TEST_F(LeadTurnsTest, AFreeLeadIsTakenAndTheRestOfTheJournalReadBeforeAnEpochBegins) {
  BeginToLead();
  EXPECT_TRUE(turns_.leads());
  EXPECT_EQ(turns_.move(), LeadMove::kHold);
}

TEST_F(LeadTurnsTest, ALeadThatAnotherTookFirstIsFollowed) {
  WatchOnce(milliseconds(0));
  Make(LeadMove::kTake, LeadOutcome());
  EXPECT_EQ(turns_.move(), LeadMove::kAwaitNews);
}

TEST_F(LeadTurnsTest, WhoTookTheLeadAndCannotReadTheRestGivesItBack) {
  WatchOnce(milliseconds(0));
  Make(LeadMove::kTake);
  Make(LeadMove::kCatchUp, gone_);
  Make(LeadMove::kRelease);
  Make(LeadMove::kPause);
  EXPECT_EQ(turns_.move(), LeadMove::kAwaitNews);
  EXPECT_FALSE(turns_.leads());
}

TEST_F(LeadTurnsTest, WhoTookLongToReadTheRestLooksWhetherTheLeadIsStillItsOwnBeforeItBegins) {
  WatchOnce(milliseconds(0));
  Make(LeadMove::kTake);
  Make(LeadMove::kCatchUp, absl::OkStatus(), kLease / 2);
  Make(LeadMove::kRefresh);
  Make(LeadMove::kRenew);
  Make(LeadMove::kBegin);
  EXPECT_TRUE(turns_.leads());
}

TEST_F(LeadTurnsTest, ALeadThatAnotherTookMeanwhileIsFollowedAndNothingBegins) {
  WatchOnce(milliseconds(0));
  Make(LeadMove::kTake);
  Make(LeadMove::kCatchUp, absl::OkStatus(), 2 * kLease);
  Make(LeadMove::kRefresh);
  Make(LeadMove::kRenew, LeadOutcome());
  EXPECT_EQ(turns_.move(), LeadMove::kAwaitNews);
  EXPECT_FALSE(turns_.leads());
}

TEST_F(LeadTurnsTest, AnAnswerThatTookLongerThanTheLeaseConfirmsNothing) {
  WatchOnce(milliseconds(0));
  Make(LeadMove::kTake, absl::OkStatus(), 2 * kLease);
  EXPECT_EQ(turns_.move(), LeadMove::kRelease) << "it may not be ours any more";
  Make(LeadMove::kRelease);
  Make(LeadMove::kPause);
  BeginToLead();
  Make(LeadMove::kHold);
  Make(LeadMove::kRenew, absl::OkStatus(), kLease + milliseconds(1));
  Make(LeadMove::kStepDown);
  EXPECT_FALSE(turns_.leads());
}

TEST_F(LeadTurnsTest, ALeaderThatIsNotConfirmedForLongerThanTheLeaseStepsDown) {
  BeginToLead();
  Make(LeadMove::kHold);
  Make(LeadMove::kRenew);
  Make(LeadMove::kHold, absl::OkStatus(), kLease / 4);
  Make(LeadMove::kRenew, gone_);
  Make(LeadMove::kHold, absl::OkStatus(), kLease / 4);
  Make(LeadMove::kRenew, gone_, kLease);
  Make(LeadMove::kStepDown);
  EXPECT_FALSE(turns_.leads());
  EXPECT_EQ(turns_.move(), LeadMove::kAwaitNews) << "the lease ends by itself";
}

TEST_F(LeadTurnsTest, ALeaderWhoseRowAnotherHasStepsDown) {
  BeginToLead();
  Make(LeadMove::kHold);
  Make(LeadMove::kRenew, LeadOutcome());
  Make(LeadMove::kStepDown);
  EXPECT_FALSE(turns_.leads());
}

TEST_F(LeadTurnsTest, AHandoverIsAStepDownAndThenARelease) {
  BeginToLead();
  LeadOutcome asked;
  asked.hand_over = "c2";
  Make(LeadMove::kHold, asked);
  EXPECT_EQ(turns_.why(), "handed over to c2");
  Make(LeadMove::kStepDown);
  EXPECT_EQ(turns_.successor(), "c2");
  Make(LeadMove::kRelease);
  EXPECT_EQ(turns_.move(), LeadMove::kPause);
}

TEST_F(LeadTurnsTest, AControllerThatDoesNotSayInTimeThatItLeadsIsToldToStepDown) {
  WatchOnce(milliseconds(0));
  Make(LeadMove::kTake);
  Make(LeadMove::kCatchUp);
  Make(LeadMove::kRefresh);
  Make(LeadMove::kBegin, gone_);
  Make(LeadMove::kStepDown);
  Make(LeadMove::kRelease);
  EXPECT_FALSE(turns_.leads());
}

TEST_F(LeadTurnsTest, AStandbyThatIsBehindForLongerThanTheLeaseSendsReadersAway) {
  Make(LeadMove::kAwaitNews, gone_);
  Make(LeadMove::kPause);
  Make(LeadMove::kAwaitNews, gone_, kLease + milliseconds(1));
  Make(LeadMove::kDismiss);
  Make(LeadMove::kPause);
  EXPECT_EQ(turns_.move(), LeadMove::kAwaitNews);
}

}  // namespace
}  // namespace muster::daemon
