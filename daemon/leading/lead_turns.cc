#include "daemon/leading/lead_turns.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookEvery{100};
constexpr milliseconds kAfterTrouble{200};
constexpr milliseconds kRefreshEvery{1000};

}  // namespace

milliseconds LeadTurns::pause() const {
  return move_ == LeadMove::kAwaitNews ? kLookEvery
         : move_ == LeadMove::kHold    ? lease_ / 4
                                       : kAfterTrouble;
}

void LeadTurns::Made(const LeadOutcome& outcome) {
  switch (move_) {
    case LeadMove::kAwaitNews:
      move_ = outcome.status.ok() ? LeadMove::kCatchUp : AfterTrouble(outcome);
      return;
    case LeadMove::kCatchUp:
      move_ = AfterCatchUp(outcome);
      return;
    case LeadMove::kRefresh:
      move_ = AfterRefresh(outcome);
      return;
    case LeadMove::kReadRow:
      move_ = !outcome.status.ok()             ? AfterTrouble(outcome)
              : outcome.row.lease.count() <= 0 ? LeadMove::kTake
                                               : LeadMove::kAwaitNews;
      return;
    case LeadMove::kTake:
      move_ = AfterTake(outcome);
      return;
    case LeadMove::kBegin:
      move_ = AfterBegin(outcome);
      return;
    case LeadMove::kHold:
      move_ = AfterHold(outcome);
      return;
    case LeadMove::kRenew:
      move_ = taking_ ? AfterSecondLook(outcome) : AfterRenewal(outcome);
      return;
    case LeadMove::kStepDown:
      leads_ = false;
      move_ = handing_ ? LeadMove::kRelease : LeadMove::kAwaitNews;
      return;
    case LeadMove::kRelease:
      handing_ = false;
      move_ = LeadMove::kPause;
      return;
    case LeadMove::kDismiss:
      move_ = LeadMove::kPause;
      return;
    case LeadMove::kPause:
      move_ = LeadMove::kAwaitNews;
      return;
  }
}

LeadMove LeadTurns::AfterRefresh(const LeadOutcome& outcome) {
  refreshed_ = outcome.now;
  return !outcome.status.ok()                ? AfterTrouble(outcome)
         : !taking_                          ? LeadMove::kReadRow
         : outcome.now - taken_ > lease_ / 2 ? LeadMove::kRenew
                                             : LeadMove::kBegin;
}

LeadMove LeadTurns::AfterCatchUp(const LeadOutcome& outcome) {
  if (!outcome.status.ok()) {
    return AfterTrouble(outcome);
  }
  current_ = outcome.asked;
  return taking_ || outcome.now - refreshed_ >= kRefreshEvery ? LeadMove::kRefresh
                                                              : LeadMove::kReadRow;
}

LeadMove LeadTurns::AfterTake(const LeadOutcome& outcome) {
  taking_ = outcome.status.ok() && outcome.done;
  taken_ = outcome.asked;
  // Nobody else can add to the journal now.
  return !taking_             ? LeadMove::kAwaitNews
         : IsTooLate(outcome) ? AfterTrouble(outcome)
                              : LeadMove::kCatchUp;
}

// Of who took long to get ready: the lead may be another's by now.
LeadMove LeadTurns::AfterSecondLook(const LeadOutcome& outcome) {
  if (!outcome.status.ok() || IsTooLate(outcome)) {
    return AfterTrouble(outcome);
  }
  taking_ = outcome.done;
  taken_ = outcome.asked;
  return taking_ ? LeadMove::kBegin : LeadMove::kAwaitNews;
}

// The lead that was taken goes back, so that another may try.
LeadMove LeadTurns::AfterTrouble(const LeadOutcome& outcome) {
  if (std::exchange(taking_, false)) {
    successor_.clear();
    return LeadMove::kRelease;
  }
  return outcome.now - current_ > lease_ ? LeadMove::kDismiss : LeadMove::kPause;
}

// One that does not answer may begin to lead later, so it is told.
LeadMove LeadTurns::AfterBegin(const LeadOutcome& outcome) {
  taking_ = false;
  if (!outcome.status.ok()) {
    handing_ = true;
    successor_.clear();
    return StepDown("it took the lead and cannot");
  }
  leads_ = true;
  renewed_ = taken_;
  return LeadMove::kHold;
}

LeadMove LeadTurns::AfterHold(const LeadOutcome& outcome) {
  if (!outcome.hand_over.has_value()) {
    return LeadMove::kRenew;
  }
  handing_ = true;
  successor_ = *outcome.hand_over;
  return StepDown(absl::StrCat("handed over", successor_.empty() ? "" : " to ", successor_));
}

LeadMove LeadTurns::AfterRenewal(const LeadOutcome& outcome) {
  if (outcome.status.ok() && outcome.done) {
    renewed_ = outcome.asked;
    return IsTooLate(outcome) ? StepDown("the database takes longer to answer than the lease lasts")
                              : LeadMove::kHold;
  }
  if (outcome.status.ok()) {
    return StepDown("another controller leads");
  }
  return outcome.now - renewed_ > lease_
             ? StepDown("the database has not answered for as long as the lease is")
             : LeadMove::kHold;
}

LeadMove LeadTurns::StepDown(std::string why) {
  why_ = std::move(why);
  return LeadMove::kStepDown;
}

}  // namespace muster::daemon
