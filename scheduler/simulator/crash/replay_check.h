#pragma once

// What a simulated store keeps, and whether a replay of it gives what there was.
//
// Thread promise: none; one thread.

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/model/change/event.h"
#include "scheduler/model/change/state_image.h"
#include "scheduler/model/plan/cycle_record.h"
#include "scheduler/simulator/life/oracle.h"

namespace muster::sim {

struct KeptJournal {
  struct Commit {
    Version version;
    std::optional<std::uint64_t> fingerprint;  // of the state at that version, if taken
  };
  // REQUIRES: there are entries.
  void Add(std::vector<JournalEntry> added, const std::vector<CycleRecord>& made,
           std::optional<std::uint64_t> fingerprint);
  // As if the last commit had never been. REQUIRES: there is one.
  void LoseLast();

  std::vector<JournalEntry> entries;
  std::vector<CycleRecord> cycles;
  std::vector<Commit> commits;
};

// Replays all of it and compares the state at commits, every plan and every start with what they
// were; the fingerprint of the last state, or nothing once a promise was broken.
std::optional<std::uint64_t> CheckReplay(const KeptJournal& kept, Oracle& oracle);
// Replays what is behind the image, and finds out records that are wrong. REQUIRES: the image is of
// the state at a version that is kept.
void CheckReplayFrom(const StateImage& image, const KeptJournal& kept, Oracle& oracle);

}  // namespace muster::sim
