#pragma once

// One choice of the scheduler's settings, as `muster tune` tries it on identical processors.
//
// Invariant: equal keys are equal choices.

#include <cstddef>
#include <string>
#include <vector>

#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/simulator/flat/flat_simulation.h"

namespace muster::cli {

struct TuneSettings {
  std::string name;  // "prompt", "easy" …
  sim::FlatPolicy policy;
  sim::Estimates estimates = sim::Estimates::kRequested;
};

// The policies that a live scheduler can be set to, the order called prompt as by default.
std::vector<TuneSettings> LivePolicies();
// What a controller with this configuration does.
TuneSettings SettingsOf(const SchedulerConfig& config);

// All that it is, in one word: a name in files of results.
std::string KeyOf(const TuneSettings& settings);
// "prompt: stretch 5, slack 24h, patience 16h, backlog 0.5".
std::string TextOf(const TuneSettings& settings);
// As the controller's configuration says it.
std::string TomlOf(const TuneSettings& settings);

// The parameters of the order called prompt that are searched, and the choices that differ from
// `settings` in this one alone.
inline constexpr std::size_t kTuneParameters = 4;
std::vector<TuneSettings> Neighbours(const TuneSettings& settings, std::size_t parameter);
// How many those are, of all parameters together.
std::size_t NeighboursInAll();

// The order called prompt with that slack (s), and its patience and backlog share in proportion.
TuneSettings WithSlack(const TuneSettings& settings, std::int64_t slack);

}  // namespace muster::cli
