#pragma once

// A replay: the journal applied again from its beginning, and every recorded cycle made again.
// Where the journal begins with a state, the first cycle made again is the first that kept to no
// plan before it.
//
// Promise 6: replaying the journal gives the same state and the same decisions, hash for hash.
// Thread promise: none; one thread. Invariants: entries and cycles are taken in the order in which
// they were made: a cycle after the entry of its version and before the next.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "scheduler/core/explain/promise_table.h"
#include "scheduler/core/plan/planner_memory.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/change/state_image.h"
#include "scheduler/model/plan/cycle_record.h"
#include "scheduler/model/plan/plan.h"

namespace muster::core {

// How a decision made again differs from the one on record.
struct ReplayDifference {
  Version version;
  Time now = kNoTime;  // of a cycle
  std::string text;    // "a plan of hash …, and not …"
};

class Replay {
 public:
  Replay() = default;
  // Begins with that state.
  explicit Replay(StateImage beginning);

  // The next entry. A difference: a start that is not in the plan whose hash it names.
  // REQUIRES: the entry follows version().
  std::optional<ReplayDifference> Apply(const JournalEntry& entry);

  // Makes the cycle again. A difference: its plan is another one.
  // REQUIRES: record.version == version().
  std::optional<ReplayDifference> Check(const CycleRecord& record);

  [[nodiscard]] Version version() const { return state_.version(); }
  [[nodiscard]] const ClusterState& state() const { return state_; }
  [[nodiscard]] std::uint64_t entries() const { return entries_; }
  [[nodiscard]] std::uint64_t cycles() const { return cycles_; }
  // Cycles that kept to a plan from before the beginning, and were not made again.
  [[nodiscard]] std::uint64_t cycles_unchecked() const { return cycles_unchecked_; }
  // Attempts that were started by a cycle made again here, and by others.
  [[nodiscard]] std::uint64_t starts() const { return starts_; }
  [[nodiscard]] std::uint64_t starts_unchecked() const { return starts_unchecked_; }
  // What the cycles made again here promised, and when the jobs started.
  [[nodiscard]] PromiseReport promises() const { return promises_.Report(); }

 private:
  std::optional<ReplayDifference> CheckStart(const AttemptStarted& start);

  ClusterState state_;
  std::deque<Plan> plans_;  // the last few, for a plan may be taken late
  SnapshotBuilder snapshots_;
  PlannerMemory memory_;
  PromiseTable promises_;
  std::uint64_t entries_ = 0;
  std::uint64_t cycles_ = 0;
  std::uint64_t cycles_unchecked_ = 0;
  bool has_beginning_ = false;
  std::uint64_t starts_ = 0;
  std::uint64_t starts_unchecked_ = 0;
};

}  // namespace muster::core
