#pragma once

// Defects of leadership that can be planted in a simulated life, to see that they are found.
//
// Invariants: a name never changes its meaning; a row for each.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::sim {

enum class LeadDefect : std::uint8_t {
  kNone,
  kEpochUnchecked,
  kOwnClock,
  kLeaseHeldOn,
  kEarlyTakeover,
  kSuccessorIgnored,
  kTailUnread,
  kAnsweredBeforeCommit,
  kAnsweredUnsynced,
  kTokensForgotten,
  kEntryTwice,
  kEntryMissed,
  kOldOrders,
  kCommitUnsettled,
  kStandbyAnswers,
  kJobsEnded,
  kLostEntryKept,
};

struct LeadDefectRow {
  LeadDefect defect;
  std::string_view name;
};

inline constexpr std::array<LeadDefectRow, 16> kLeadDefects = {{
    {LeadDefect::kEpochUnchecked, "epoch_unchecked"},
    {LeadDefect::kOwnClock, "own_clock"},
    {LeadDefect::kLeaseHeldOn, "lease_held_on"},
    {LeadDefect::kEarlyTakeover, "early_takeover"},
    {LeadDefect::kSuccessorIgnored, "successor_ignored"},
    {LeadDefect::kTailUnread, "tail_unread"},
    {LeadDefect::kAnsweredBeforeCommit, "answered_before_commit"},
    {LeadDefect::kAnsweredUnsynced, "answered_unsynced"},
    {LeadDefect::kTokensForgotten, "tokens_forgotten"},
    {LeadDefect::kEntryTwice, "entry_twice"},
    {LeadDefect::kEntryMissed, "entry_missed"},
    {LeadDefect::kOldOrders, "old_orders"},
    {LeadDefect::kCommitUnsettled, "commit_unsettled"},
    {LeadDefect::kStandbyAnswers, "standby_answers"},
    {LeadDefect::kJobsEnded, "jobs_ended"},
    {LeadDefect::kLostEntryKept, "lost_entry_kept"},
}};

constexpr std::optional<LeadDefect> LeadDefectOf(std::string_view name) {
  for (const LeadDefectRow& row : kLeadDefects) {
    if (row.name == name) {
      return row.defect;
    }
  }
  return std::nullopt;
}

}  // namespace muster::sim
