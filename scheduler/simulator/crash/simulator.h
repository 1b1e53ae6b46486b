#pragma once

// One simulated life of a cluster: users, a controller, agents, a network, and what goes wrong.
//
// It runs while faults happen, then lets everything come back and sees whether all jobs end. Thread
// promise: pure; two simulations share nothing. Invariants: the same scenario and seed make the
// same history, event for event, on every machine.

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/model/value/time.h"
#include "scheduler/simulator/life/faults.h"
#include "scheduler/simulator/life/planted.h"

namespace muster::sim {

struct Scenario {
  std::string name;
  std::uint32_t nodes = 4;
  std::uint32_t cores_per_node = 4;
  std::uint32_t gpus_per_node = 0;  // two jobs of five ask for some
  std::uint32_t submissions = 30;
  std::uint32_t elastic = 0;       // thousandths of the batch jobs that may change their size
  std::uint32_t urgent = 0;        // thousandths of the jobs; as many others they may preempt
  std::uint32_t reservations = 0;  // of nodes, for nobody's jobs
  bool prompt = false;             // jobs go in the order called prompt
  // Users ask for all that there is to ask for, of a site of several accounts, partitions and QOS.
  bool wishes = false;
  std::uint32_t changes = 0;  // that the site's operators make
  // All else that there is: machines, networks and settings of each life its own, operators who do
  // everything, agents that say everything, and questions beside. With wishes.
  bool whole = false;
  Duration active{120'000};  // how long users submit and faults happen
  FaultRates faults;
  bool drawn = false;                     // each life has rates of its own, around those
  LifeDefect defect = LifeDefect::kNone;  // to plant
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

struct SimulationResult {
  std::optional<std::string> broken;  // the first broken promise, as a sentence
  std::uint64_t history = 0;          // the fingerprint of the journal
  std::uint64_t events = 0;
  std::uint64_t executions = 0;
  std::uint64_t queued_steps = 0;  // that waited for others of their job
  std::uint64_t grown = 0;         // elastic jobs that were ordered to end so that they grow
  std::uint64_t shrunk = 0;        // and that went on without a node that was lost
  std::uint64_t preempted = 0;     // attempts that were ended for an urgent job
  std::uint64_t reserved = 0;      // reservations that were made
  std::uint64_t changed = 0;       // other changes of policy
  std::uint64_t refused = 0;       // submissions
  Duration took{0};                // in the simulation's time
  FaultCounts faults;
};

SimulationResult Simulate(const Scenario& scenario, std::uint64_t seed);

}  // namespace muster::sim
