#pragma once

// The database that simulated controllers share: the leader's row, the fence and the journal, as
// daemon/store/postgres has them, on a primary with a synchronous standby.
//
// It stalls, cannot be reached, and is replaced by its standby, which has what was synced and
// perhaps more. Thread promise: none; one thread. Invariants: (1) a transaction holds the row from
// its fence to its end; (2) a statement on the row waits for that; (3) a reply comes once, from the
// clock, within the silence that the caller allows.

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
#include "scheduler/simulator/crash/faults.h"
#include "scheduler/simulator/crash/replay_check.h"
#include "scheduler/simulator/crash/virtual_clock.h"
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

  SharedDatabase(VirtualClock& clock, Faults& faults, LeadJudge& judge, std::size_t controllers,
                 LeadDefect defect);
  SharedDatabase(const SharedDatabase&) = delete;
  SharedDatabase& operator=(const SharedDatabase&) = delete;

  // Runs a statement once it gets through; `on_row`: one that changes the row, so that it waits for
  // transactions.
  void Ask(std::size_t controller, Duration silence, bool on_row, Statement statement, Reply reply);
  void Commit(Transaction transaction, Duration silence, Reply reply);
  // The controller's connection that writes is closed; gone: its process is, too.
  void Disconnect(std::size_t controller);

  // Statements, as PostgresLeadership has them.
  [[nodiscard]] daemon::LeaderRow Row() const;
  // The epoch that was taken, or 0.
  std::uint64_t Take(std::size_t controller, const std::string& name,
                     std::chrono::milliseconds lease, bool force);
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
  [[nodiscard]] Time lease_end() const { return lease_end_; }
  // When the database last confirmed the lead of the controller.
  [[nodiscard]] Time confirmed(std::size_t controller) const {
    return links_[controller].confirmed;
  }

  // Faults.
  void CutOff(std::size_t controller, bool cut_off) { links_[controller].cut_off = cut_off; }
  // Its process is stopped: what it has under way goes on when it wakes.
  void Stop(std::size_t controller, bool stopped) { links_[controller].stopped = stopped; }
  void Stall(Duration time);
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
  struct Link {
    bool cut_off = false;
    bool stopped = false;
    Time confirmed = kNoTime;
  };

  [[nodiscard]] Time Now() const { return clock_.now() + clock_step_; }
  [[nodiscard]] bool Away() const { return clock_.now() < away_until_; }
  [[nodiscard]] bool Stalls() const { return clock_.now() < stalled_until_; }
  [[nodiscard]] bool IsHeld() const { return !writing_.empty(); }
  // A reply that comes once, by the silence at the latest, and not through a link that is cut.
  Reply Answering(std::size_t controller, Duration silence, Reply reply);
  void Run(std::size_t controller, bool on_row, std::uint64_t life, const Statement& statement,
           const Reply& answer);
  void Begin(const WritingPtr& writing);
  void End(const WritingPtr& writing);
  void Sync(const WritingPtr& writing);
  void Show(const WritingPtr& writing);
  void MarkSynced();
  void Abort(const WritingPtr& writing, const absl::Status& status);
  void EndWriters();

  VirtualClock& clock_;
  Faults& faults_;
  LeadJudge& judge_;
  const LeadDefect defect_;
  std::vector<Link> links_;

  daemon::LeaderRow row_;
  std::uint64_t session_ = 0;
  Time lease_end_ = kNoTime;
  KeptJournal kept_;        // what is visible
  std::size_t synced_ = 0;  // entries of it
  std::vector<WritingPtr> writing_;

  std::uint64_t life_ = 1;  // of the primary
  Duration clock_step_{0};
  Time away_until_ = kNoTime;
  Time stalled_until_ = kNoTime;
};

}  // namespace muster::sim
