#pragma once

// One of several controllers: the loop, the moves of LeadTurns, and what daemon/controller does
// when it follows, begins to lead, steps down and was refused a commit.
//
// Thread promise: none; one thread. Invariants: (1) answers and orders leave only after the
// database took their events; (2) while it is stopped nothing of it happens, and what came
// meanwhile happens when it wakes; (3) its clocks drift, and its wall clock jumps.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/leading/lead_turns.h"
#include "scheduler/simulator/crash/controller_loop.h"
#include "tests/sim/leaders/defects.h"
#include "tests/sim/leaders/lead_judge.h"
#include "tests/sim/leaders/shared_database.h"

namespace muster::sim {

inline constexpr Duration kStoreSilence{15'000};
inline constexpr Duration kAwaitMax{10'000};  // how long the loop's answer is awaited
inline constexpr Duration kLook{20};          // whether what is waited for has come

class Member final : public ControllerLoop {
 public:
  Member(const ControllerContext& world, std::size_t index, SharedDatabase& database,
         LeadJudge& judge, LeadDefect defect);

  void Start();
  // Dies, and comes back in its own time.
  void Die();
  void Stop();
  void Wake();
  void HandOver(std::string to) { hand_over_ = std::move(to); }
  // Jumps add up, but not so that two controllers are further apart than the oracle allows.
  void JumpClock(Duration by) {
    constexpr Duration kApartMax{40'000};
    clock_offset_ = std::clamp(clock_offset_ + by, -kApartMax, kApartMax);
  }

  // A client's request. `refused`: it does not lead.
  void Bring(const Command& command, Done done, const std::function<void()>& refused);
  void Hear(Session session, const ToController& message);
  void HearLoss(Session session, Duration silent);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool leads() const { return leads_; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Nothing waits to be written or planned.
  [[nodiscard]] bool settled() const {
    return alive() && !stopped_ && !stale_ && !writing_.has_value() && rests();
  }
  // Since when it leads and runs.
  [[nodiscard]] Time leads_since() const { return leads_since_; }

 private:
  using Moment = daemon::LeadTurns::Moment;
  using Told = std::function<void(const absl::Status&)>;

  [[nodiscard]] Time Now() const override;
  void WriteSoon() override;
  void Act(const std::function<void()>& action) override;
  void Leaving(const ToAgent& order) override;
  [[nodiscard]] Moment Steady() const;
  // Gives what the database answers to `told`, unless it has died by then.
  Told Mine(Told told);
  void Ask(Duration silence, const SharedDatabase::Statement& statement, Told told);
  void AskRow(Duration silence, const SharedDatabase::Statement& statement, Told told);

  // The moves.
  void Turn();
  void Made(Moment asked, daemon::LeadOutcome outcome);
  void Made(Moment asked, const absl::Status& status, bool done = false);
  void MadeAfter(Moment asked, Duration time);
  void CatchUp(Moment asked);
  void ReadRow(Moment asked);
  void Take(Moment asked);
  void Renew(Moment asked);
  void Hold(Moment asked);
  void StepDown(Moment asked, Time until);
  void AwaitCommit(Moment asked, Time until);
  [[nodiscard]] bool Has(LeadDefect defect) const { return defect_ == defect; }

  // What the controller does.
  absl::Status Follow(const std::vector<JournalEntry>& entries);
  void CompareLast(const JournalEntry& entry);
  void CompareState();
  void FollowWhenFree(Moment asked, Time until, const std::vector<JournalEntry>& entries);
  void Begin(Moment asked);
  void BeginWhenWritten(const Told& begun);
  void ContinueFrom(const Told& begun);
  void BeginTermNow(const Told& begun);
  void Depose();
  void EndJobs();

  // The store.
  void CloseGroup();
  void Commit(Group group, Told told);
  void Written(const absl::Status& status);
  void RollBackWhenFree(const absl::Status& status);
  void RollBack(const absl::Status& status);
  // OK once nothing of a commit that failed can become durable any more.
  void Settle(Told settled);
  void Reload();
  void LoadState();
  void MarkStale();

  const std::string name_;
  SharedDatabase& database_;
  LeadJudge& judge_;
  const LeadDefect defect_;
  const std::int64_t drift_;  // of its clocks, in millionths
  Duration clock_offset_{0};

  bool stopped_ = false;
  std::vector<std::function<void()>> held_;  // what came while it was stopped
  std::optional<daemon::LeadTurns> turns_;
  std::optional<std::string> hand_over_;
  bool leads_ = false;
  Time leads_since_ = kNoTime;
  bool busy_ = false;  // its loop is at the beginning of an epoch, and does nothing else
  bool stale_ = false;
  Version followed_;  // the last entry of the state that is known to be in the journal
  std::optional<JournalEntry> last_;  // that it read
  std::uint64_t loads_ = 0;           // counts what it began to load
  bool doubtful_ = false;             // a commit failed, and nobody has looked since
  std::uint64_t epoch_ = 0;
  std::uint64_t session_ = 0;
  std::optional<Group> writing_;
  bool write_asked_ = false;
};

}  // namespace muster::sim
