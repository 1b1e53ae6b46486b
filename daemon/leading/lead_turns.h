#pragma once

// What a controller does about the lead, one move after the other: the part of LeaderLoop that
// decides.
//
// Whoever owns it makes the move and says how that went. It asks no clock, no thread and no
// database, so that a simulation runs it, too. Thread promise: none; one owner. Invariants: (1)
// kBegin comes only after the lead was taken, the rest of the journal was applied, and the database
// confirmed the lead in the last half of the lease; (2) a leader that was not confirmed for longer
// than the lease is ordered to step down. An answer confirms the lead as of when it was asked for.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "daemon/store/database/leadership.h"

namespace muster::daemon {

enum class LeadMove : std::uint8_t {
  kAwaitNews,  // for pause() at most
  kCatchUp,    // read the rest of the journal and have the controller follow it
  kRefresh,    // read again what else controllers share
  kReadRow,
  kTake,
  kBegin,    // have the controller begin an epoch
  kHold,     // lead for pause(), or until a handover is asked for
  kRenew,    // and see that the controller still leads
  kDismiss,  // send readers of events away: there may be a controller that knows more
  kPause,    // for pause()
  kStepDown,
  kRelease,  // to successor()
};

// How a move went.
struct LeadOutcome {
  using Moment = std::chrono::steady_clock::time_point;
  absl::Status status;
  bool done = false;                     // of kTake and kRenew: the database did it
  LeaderRow row;                         // of kReadRow
  std::optional<std::string> hand_over;  // of kHold: to whom; "": to any
  Moment asked;                          // when the move began
  Moment now;
};

class LeadTurns {
 public:
  using Moment = LeadOutcome::Moment;
  LeadTurns(std::chrono::milliseconds lease, Moment now) : lease_(lease), current_(now) {}

  [[nodiscard]] LeadMove move() const { return move_; }
  [[nodiscard]] std::chrono::milliseconds pause() const;
  // Why to step down, and for whom to release the lead.
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] const std::string& successor() const { return successor_; }
  // Between kBegin and kStepDown.
  [[nodiscard]] bool leads() const { return leads_; }
  // When the journal was last read to its end.
  [[nodiscard]] Moment current() const { return current_; }

  // The move was made; move() is the next one.
  void Made(const LeadOutcome& outcome);

 private:
  LeadMove AfterRefresh(const LeadOutcome& outcome);
  LeadMove AfterCatchUp(const LeadOutcome& outcome);
  LeadMove AfterTake(const LeadOutcome& outcome);
  LeadMove AfterTrouble(const LeadOutcome& outcome);
  LeadMove AfterHold(const LeadOutcome& outcome);
  LeadMove AfterRenewal(const LeadOutcome& outcome);
  LeadMove AfterSecondLook(const LeadOutcome& outcome);
  LeadMove AfterBegin(const LeadOutcome& outcome);
  LeadMove StepDown(std::string why);

  [[nodiscard]] bool IsTooLate(const LeadOutcome& outcome) const {
    return outcome.now - outcome.asked > lease_;
  }

  const std::chrono::milliseconds lease_;
  LeadMove move_ = LeadMove::kAwaitNews;
  bool leads_ = false;
  bool taking_ = false;   // from kTake to kBegin
  bool handing_ = false;  // from kHold to kRelease
  std::string why_;
  std::string successor_;
  Moment taken_;
  Moment renewed_;
  Moment refreshed_;
  Moment current_;
};

}  // namespace muster::daemon
