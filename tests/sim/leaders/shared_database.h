#pragma once

// The database that simulated controllers share: the leader's row, the fence and the journal, as
// daemon/store/postgres has them, on a primary with a synchronous standby.
//
// It stalls, or its standby does; it restarts, and shows then what the standby has not; it is
// replaced by its standby, which has what was synced and perhaps more. Thread promise: none; one
// thread. Invariants: (1) a transaction, and so a change of the row, holds the row until the
// standby has it; (2) both wait for the row; (3) what is synced is a beginning of what is visible;
// (4) a reply comes once, from the clock, within the silence that the caller allows.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/leadership.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/plan/cycle_record.h"
#include "scheduler/simulator/life/faults.h"
#include "scheduler/simulator/crash/replay_check.h"
#include "scheduler/simulator/life/virtual_clock.h"
#include "tests/sim/leaders/defects.h"
#include "tests/sim/leaders/lead_judge.h"

namespace muster::sim {

class SharedDatabase {
 public:
  using Reply = std::function<void(const absl::Status&)>;
  using Statement = std::function<absl::Status()>;
  // What a controller writes at once, and as whom.
  struct Transaction {
    std::size_t controller = 0;
    std::uint64_t epoch = 0;
    std::uint64_t session = 0;
    std::vector<JournalEntry> entries;
    std::vector<CycleRecord> cycles;
    std::uint64_t fingerprint = 0;
  };

  // Who asks for the lead.
  struct Bid {
    std::string name;
    std::chrono::milliseconds lease{0};
    bool force = false;
  };

  SharedDatabase(VirtualClock& clock, Faults& faults, LeadJudge& judge, std::size_t controllers,
                 LeadDefect defect);
  SharedDatabase(const SharedDatabase&) = delete;
  SharedDatabase& operator=(const SharedDatabase&) = delete;

  // Runs a statement that reads, once it gets through.
  void Ask(std::size_t controller, Duration silence, const Statement& statement, Reply reply);
  // Runs one that may change the row: once the row is free, answered when the standby has it.
  void AskRow(std::size_t controller, Duration silence, const Statement& statement, Reply reply);
  // Takes the lead: who writes although the lead is due is ended first. `taken`: the epoch, or 0.
  void AskTake(std::size_t controller, Duration silence, const Bid& bid,
               const std::shared_ptr<std::uint64_t>& taken, Reply reply);
  void Commit(Transaction transaction, Duration silence, Reply reply);
  // The controller's connection that writes is closed; gone: its process is, too.
  void Disconnect(std::size_t controller);

  // Statements, as PostgresLeadership has them.
  [[nodiscard]] daemon::LeaderRow Row() const;
  bool Renew(std::size_t controller, std::uint64_t epoch, std::chrono::milliseconds lease);
  void Release(std::uint64_t epoch, const std::string& successor);
  // Whether the row is of that epoch, and the session from now on.
  absl::StatusOr<std::uint64_t> CountSession(std::uint64_t epoch);
  [[nodiscard]] const KeptJournal& kept() const { return kept_; }
  [[nodiscard]] Version version() const {
    return kept_.entries.empty() ? Version() : kept_.entries.back().version;
  }
  // The fingerprint of the state at that version, if one was written; else 0.
  [[nodiscard]] std::uint64_t FingerprintAt(Version version) const;
  // Of the database's clock, for who reckons by another.
  [[nodiscard]] Time lease_end() const { return row_.lease_end; }
  // When the database last confirmed the lead of the controller.
  [[nodiscard]] Time confirmed(std::size_t controller) const {
    return links_[controller].confirmed;
  }

  // Faults.
  void CutOff(std::size_t controller, bool cut_off) { links_[controller].cut_off = cut_off; }
  // Its process is stopped: what it has under way goes on when it wakes.
  void Stop(std::size_t controller, bool stopped) { links_[controller].stopped = stopped; }
  // The connection on which it writes next breaks after the commit was sent and before the answer
  // has come: the commit goes on, as that of a session that nobody listens to any more.
  void LoseAnswer(std::size_t controller) { links_[controller].loses_answer = true; }
  void Stall(Duration time);
  // The standby takes nothing in, so that no commit ends.
  void StallSync(Duration time);
  // The primary ends all sessions and comes back. What waited for the standby is visible then.
  void Restart(Duration away);
  // The primary is lost, and its standby promoted.
  void FailOver(Duration away, Duration clock_step);
  // Somebody changes the leader's row by hand.
  void EditRow(std::uint64_t choice);

 private:
  enum class Phase : std::uint8_t { kOpen, kSyncing, kOver };
  struct Writing {
    Transaction transaction;
    Phase phase = Phase::kOpen;
    std::uint64_t life = 0;  // of the primary
    std::function<void(const absl::Status&)> answer;
  };
  using WritingPtr = std::shared_ptr<Writing>;
  struct LeadRow {
    daemon::LeaderRow row;
    std::uint64_t session = 0;
    Time lease_end = kNoTime;
    std::uint64_t changes = 0;
  };
  struct Link {
    bool cut_off = false;
    bool stopped = false;
    bool loses_answer = false;
    Time confirmed = kNoTime;
  };

  [[nodiscard]] Time Now() const { return clock_.now() + clock_step_; }
  [[nodiscard]] bool Away() const { return clock_.now() < away_until_; }
  [[nodiscard]] bool Stalls() const { return clock_.now() < stalled_until_; }
  [[nodiscard]] bool SyncStalls() const { return Stalls() || clock_.now() < sync_stalled_until_; }
  [[nodiscard]] bool IsHeld() const { return !writing_.empty() || row_changed_ != nullptr; }
  [[nodiscard]] bool IsDue(const Bid& bid) const;
  // A reply that comes once, by the silence at the latest, and not through a link that is cut.
  Reply Answering(std::size_t controller, Duration silence, Reply reply);
  void Send(std::size_t controller, bool on_row, const Statement& statement, const Reply& answer);
  void Run(bool on_row, std::uint64_t life, const Statement& statement, const Reply& answer);
  std::uint64_t Take(const Bid& bid);
  void Edit(std::uint64_t choice);
  void SyncRow(std::uint64_t life);
  void SyncRest(std::uint64_t life, std::size_t entries, const LeadRow& row);
  void Begin(const WritingPtr& writing);
  void End(const WritingPtr& writing);
  void Sync(const WritingPtr& writing);
  void Show(const WritingPtr& writing);
  void MarkSynced(std::size_t entries);
  void MarkSynced() { MarkSynced(kept_.entries.size()); }
  void Abort(const WritingPtr& writing, const absl::Status& status);
  void EndWriters();

  VirtualClock& clock_;
  Faults& faults_;
  LeadJudge& judge_;
  const LeadDefect defect_;
  std::vector<Link> links_;

  LeadRow row_;
  LeadRow synced_row_;
  Reply row_changed_;       // of the change that holds the row until it is synced
  KeptJournal kept_;        // what is visible
  std::size_t synced_ = 0;  // entries of it
  std::vector<WritingPtr> writing_;

  std::uint64_t life_ = 1;  // of the primary
  Duration clock_step_{0};
  Time away_until_ = kNoTime;
  Time stalled_until_ = kNoTime;
  Time sync_stalled_until_ = kNoTime;
};

}  // namespace muster::sim
