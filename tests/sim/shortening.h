#pragma once

// From a life that breaks a promise to a shorter one that breaks the same.
//
// Whatever is left out of a scenario changes what is drawn after it, so a smaller scenario has
// other lives; of these the first few are tried. Pure. Invariants: what is returned breaks the same
// promise; no life that was tried with a smaller scenario did.

#include <cstdint>
#include <string>

#include "scheduler/simulator/crash/simulator.h"

namespace muster::sim {

struct ShortLife {
  Scenario scenario;
  std::uint64_t seed = 0;
  SimulationResult result;
};

// REQUIRES: that life breaks a promise. `tries`: of each smaller scenario.
ShortLife Shorten(const Scenario& scenario, std::uint64_t seed, std::uint64_t tries);

// Which promise the sentence says was broken: all before its first number that is no promise's.
std::string PromiseOf(const std::string& broken);

}  // namespace muster::sim
