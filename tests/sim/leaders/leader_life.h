#pragma once

// One simulated life of a cluster with two or three controllers on one database: the lead changes
// while users submit and jobs run, and what goes wrong is drawn from the seed.
//
// Thread promise: pure; two lives share nothing. Invariants: the same seed and defect make the same
// history, event for event, on every machine.

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/model/value/time.h"
#include "tests/sim/leaders/defects.h"

namespace muster::sim {

// What went wrong in a life.
struct LeaderFaultCounts {
  std::uint64_t killed = 0;
  std::uint64_t stopped = 0;
  std::uint64_t cut_from_database = 0;
  std::uint64_t cut_from_agents = 0;
  std::uint64_t cut_from_clients = 0;
  std::uint64_t stalls = 0;
  std::uint64_t sync_stalls = 0;
  std::uint64_t restarts = 0;
  std::uint64_t failovers = 0;
  std::uint64_t clock_jumps = 0;
  std::uint64_t handovers = 0;
  std::uint64_t edits = 0;
  std::uint64_t lost_answers = 0;
};

struct LeaderLifeResult {
  std::optional<std::string> broken;  // the first broken promise, as a sentence
  std::uint64_t history = 0;          // the fingerprint of the journal
  std::uint64_t events = 0;
  std::uint64_t executions = 0;
  std::uint64_t epochs = 0;  // how often a controller began to lead
  Duration took{0};          // in the simulation's time
  LeaderFaultCounts faults;
};

LeaderLifeResult SimulateLeaders(std::uint64_t seed, LeadDefect defect = LeadDefect::kNone);

}  // namespace muster::sim
