#pragma once

// Judges leadership by what the database did and what left the controllers.
//
// It believes no controller. Thread promise: none; one thread. Invariants: what it finds goes to
// the oracle, which keeps the first.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/store/database/leadership.h"
#include "scheduler/model/change/event.h"
#include "scheduler/simulator/life/oracle.h"

namespace muster::sim {

// A handover is its successor's for so long.
inline constexpr std::chrono::milliseconds kTurn{3'000};

class LeadJudge {
 public:
  explicit LeadJudge(Oracle& oracle) : oracle_(oracle) {}

  // The database let a controller take the lead; `before` is the row as it was. Broken: the lease
  // was not over; it was another's turn; the epoch was given out before.
  void Taken(const std::string& name, const daemon::LeaderRow& before, std::uint64_t epoch);
  // These entries of that controller's became visible, while the row had that epoch. Broken:
  // another controller wrote in that epoch, or a later one has begun.
  void Committed(std::size_t controller, std::uint64_t row_epoch,
                 const std::vector<JournalEntry>& entries);
  // No failure of the database can undo these entries any more.
  void Synced(const JournalEntry& entry);
  // The database forgot what came after.
  void Forgot(Version from);

  // A client is told that its submission is that job. Broken: it could still be lost.
  void Answered(std::size_t controller, const std::string& token, JobId job);
  // An order or a welcome leaves. Broken: another controller began that epoch.
  void OrderLeaves(std::size_t controller, Epoch epoch);
  // Broken: that start is not durable.
  void LaunchLeaves(std::size_t controller, JobId job, AttemptNumber attempt);
  // Broken: a part was ended, and no durable entry asked for it.
  void CheckEnds(const std::vector<JournalEntry>& journal);
  // So long a controller has led without word from the database.
  void LeadsUnconfirmed(std::size_t controller, Duration time);

  void Broken(const std::string& what) { oracle_.Broken(what); }

 private:
  Oracle& oracle_;
  std::uint64_t last_epoch_ = 0;
  std::map<std::uint64_t, std::size_t> writers_;            // by the row's epoch
  std::map<Epoch, std::pair<Version, std::size_t>> begun_;  // by whom, as which entry
  std::map<std::string, JobId> synced_;                     // submissions by token
  std::set<std::pair<JobId, AttemptNumber>> started_;       // starts that are synced
};

}  // namespace muster::sim
