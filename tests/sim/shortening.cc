#include "tests/sim/shortening.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace muster::sim {
namespace {

constexpr Duration kShortest{1'000};

using Step = std::function<void(Scenario&)>;

// What may be left out, the most first.
std::vector<Step> Steps() {
  std::vector<Step> steps = {
      [](Scenario& s) { s.submissions = std::max(s.submissions / 4, 1U); },
      [](Scenario& s) { s.submissions = std::max(s.submissions / 2, 1U); },
      [](Scenario& s) { s.submissions = std::max(s.submissions - 1, 1U); },
      [](Scenario& s) { s.nodes = std::max(s.nodes / 2, 1U); },
      [](Scenario& s) { s.nodes = std::max(s.nodes - 1, 1U); },
      [](Scenario& s) { s.cores_per_node = std::max(s.cores_per_node / 2, 1U); },
      [](Scenario& s) { s.active = std::max(s.active / 2, kShortest); },
      [](Scenario& s) { s.elastic = 0; },
      [](Scenario& s) { s.prompt = false; },
      [](Scenario& s) { s.gpus_per_node = s.gpus_per_node / 2; },
      [](Scenario& s) { s.urgent = 0; },
      [](Scenario& s) { s.reservations = s.reservations / 2; },
      [](Scenario& s) { s.changes = s.changes / 2; },
      [](Scenario& s) { s.changes = 0; },
  };
  for (auto rate : {&FaultRates::connection_lost_every, &FaultRates::agent_dies_every,
                    &FaultRates::controller_dies_every}) {
    steps.emplace_back([rate](Scenario& s) { s.faults.*rate = Duration(0); });
  }
  for (auto rate : {&FaultRates::record_lost, &FaultRates::reboot,
                    &FaultRates::controller_dies_at_step, &FaultRates::report_duplicated,
                    &FaultRates::report_late, &FaultRates::reply_lost, &FaultRates::launch_slow,
                    &FaultRates::launch_fails, &FaultRates::lie, &FaultRates::gpu_lost}) {
    steps.emplace_back([rate](Scenario& s) { s.faults.*rate = 0; });
  }
  return steps;
}

// Of the scenario's lives the one with the fewest events that breaks the promise.
std::optional<ShortLife> ShortestOf(const Scenario& scenario, const std::string& promise,
                                    std::uint64_t own, std::uint64_t tries) {
  std::optional<ShortLife> shortest;
  for (std::uint64_t i = 0; i <= tries; ++i) {
    const std::uint64_t seed = i == 0 ? own : i;
    SimulationResult result = Simulate(scenario, seed);
    if (result.broken.has_value() && PromiseOf(*result.broken) == promise &&
        (!shortest.has_value() || result.events < shortest->result.events)) {
      shortest = ShortLife{scenario, seed, std::move(result)};
    }
  }
  return shortest;
}

}  // namespace

std::string PromiseOf(const std::string& broken) {
  const std::string head = "promise N: ";
  const std::size_t from = broken.rfind("promise ", 0) == 0 ? head.size() : 0;
  return broken.substr(0, broken.find_first_of("0123456789", from));
}

ShortLife Shorten(const Scenario& scenario, std::uint64_t seed, std::uint64_t tries) {
  ShortLife best{scenario, seed, Simulate(scenario, seed)};
  if (scenario.drawn) {
    best.scenario.drawn = false;
    best.scenario.faults = DrawRates(scenario.faults, seed);
  }
  const std::string promise = PromiseOf(best.result.broken.value_or(""));
  const std::vector<Step> steps = Steps();
  bool shorter = true;
  while (shorter) {
    shorter = false;
    for (const Step& step : steps) {
      Scenario smaller = best.scenario;
      step(smaller);
      if (smaller == best.scenario) {
        continue;
      }
      if (std::optional<ShortLife> found = ShortestOf(smaller, promise, best.seed, tries)) {
        best = *std::move(found);
        shorter = true;
      }
    }
  }
  return best;
}

}  // namespace muster::sim
