// muster-dst: the deterministic simulation from the command line, over as many seeds as one likes.
//
// A broken promise is one line that names the scenario, the seed that repeats it and the commit.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/simulator/crash/simulator.h"
#include "tests/sim/leaders/leader_life.h"
#include "tests/sim/scenario_file.h"
#include "tests/sim/shortening.h"

namespace muster::sim {
namespace {

constexpr const char* kLeaders = "leaders";
constexpr std::uint64_t kShortenTries = 50;  // of each smaller scenario

// The scenarios that lie there as files, and what needs none.
std::vector<std::string> AllScenarios() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(MUSTER_SCENARIOS)) {
    if (file.path().extension() == ".toml") {
      names.push_back(file.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  names.emplace_back(kLeaders);
  return names;
}

struct Options {
  std::vector<std::string> scenarios = AllScenarios();
  bool list = false;
  std::uint64_t seeds = 50;
  std::uint64_t first = 1;
  std::string defect;  // to plant
  bool shorten = false;
};

struct Tally {
  std::uint64_t broken = 0;
  std::uint64_t events = 0;
  Duration took{0};
};

// What one life came to, whatever it was a life of.
struct Life {
  std::optional<std::string> broken;
  std::uint64_t events = 0;
  Duration took{0};
};

template <typename Result>
Life LifeOf(const Result& result) {
  return Life{result.broken, result.events, result.took};
}

// The scenario of one controller, with the defect that is to be planted.
absl::StatusOr<Scenario> ScenarioOf(const Options& options, const std::string& name) {
  absl::StatusOr<Scenario> scenario = ReadScenario(name);
  if (scenario.ok() && !options.defect.empty()) {
    const std::optional<LifeDefect> defect = LifeDefectOf(options.defect);
    if (!defect.has_value()) {
      return absl::InvalidArgumentError("--defect " + options.defect +
                                        ": no such defect of these lives; see --help");
    }
    scenario->defect = *defect;
  }
  return scenario;
}

// The lives of a scenario by seed; an error when it cannot be read.
absl::StatusOr<std::function<Life(std::uint64_t)>> LivesOf(const Options& options,
                                                           const std::string& name) {
  if (name == kLeaders) {
    const std::optional<LeadDefect> defect =
        options.defect.empty() ? LeadDefect::kNone : LeadDefectOf(options.defect);
    if (!defect.has_value()) {
      return absl::InvalidArgumentError("--defect " + options.defect +
                                        ": no such defect; see --help");
    }
    return [defect = *defect](std::uint64_t seed) { return LifeOf(SimulateLeaders(seed, defect)); };
  }
  absl::StatusOr<Scenario> scenario = ScenarioOf(options, name);
  if (!scenario.ok()) {
    return scenario.status();
  }
  return [scenario = *std::move(scenario)](std::uint64_t seed) {
    return LifeOf(Simulate(scenario, seed));
  };
}

// Prints a shorter life that breaks the same promise, as a scenario and a seed.
void PrintShorter(const Options& options, const std::string& name, std::uint64_t seed) {
  const absl::StatusOr<Scenario> scenario = ScenarioOf(options, name);
  if (name == kLeaders || !scenario.ok()) {
    std::printf("%s: its lives cannot be shortened\n", name.c_str());
    return;
  }
  const ShortLife life = Shorten(*scenario, seed, kShortenTries);
  std::printf("shorter, seed %llu, %llu events: %s\n%s", static_cast<unsigned long long>(life.seed),
              static_cast<unsigned long long>(life.result.events), life.result.broken->c_str(),
              ScenarioText(life.scenario).c_str());
}

// Runs one scenario over the seeds; false when it cannot be read.
bool Run(const Options& options, const std::string& name, Tally& total) {
  const auto lives = LivesOf(options, name);
  if (!lives.ok()) {
    std::fprintf(stderr, "muster-dst: %s\n", std::string(lives.status().message()).c_str());
    return false;
  }
  Tally tally;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t seed = options.first; seed < options.first + options.seeds; ++seed) {
    const Life life = (*lives)(seed);
    tally.took += life.took;
    tally.events += life.events;
    if (life.broken.has_value()) {
      ++tally.broken;
      std::printf("BROKEN %s, seed %llu, commit %s: %s\n", name.c_str(),
                  static_cast<unsigned long long>(seed), MUSTER_COMMIT, life.broken->c_str());
      std::fflush(stdout);
      if (options.shorten) {
        PrintShorter(options, name, seed);
      }
      if (!options.defect.empty() || options.shorten) {
        break;  // found
      }
    }
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double days = std::chrono::duration<double, std::ratio<86400>>(tally.took).count();
  std::printf("%-16s %llu seeds, %llu broken, %llu events, %.2f simulated days, %.2f a second\n",
              name.c_str(), static_cast<unsigned long long>(options.seeds),
              static_cast<unsigned long long>(tally.broken),
              static_cast<unsigned long long>(tally.events), days, days / seconds);
  std::fflush(stdout);
  total.broken += tally.broken;
  return true;
}

std::string DefectHelp() {
  std::string help = "plant a defect in the lives of leaders, and stop at the first that shows it:";
  for (const LeadDefectRow& row : kLeadDefects) {
    help += " " + std::string(row.name);
  }
  help += "; or of one controller:";
  for (const LifeDefectRow& row : kLifeDefects) {
    help += " " + std::string(row.name) + " (" + std::string(row.scenario) + ")";
  }
  return help;
}

}  // namespace
}  // namespace muster::sim

int main(int argc, char** argv) {
  muster::sim::Options options;
  CLI::App app("Simulate whole clusters under faults, each seed another history");
  app.footer(
      "Examples:\n"
      "  muster-dst --seeds 1000\n"
      "  muster-dst --first 4711 --seeds 1 everything   # repeats one history\n"
      "  muster-dst --seeds 2000 --defect tail_unread leaders\n"
      "  muster-dst --first 4711 --seeds 1 --shorten everything\n"
      "  muster-dst --first 3 --seeds 1 ./shorter.toml   # what --shorten printed\n");
  app.add_option("scenario", options.scenarios,
                 "names in tests/sim, without .toml, a file's path, or leaders (default: all)");
  app.add_flag("--list", options.list, "print the names of all scenarios");
  app.add_option("--seeds", options.seeds, "how many for each scenario")->capture_default_str();
  app.add_option("--defect", options.defect, muster::sim::DefectHelp());
  app.add_flag(
      "--shorten", options.shorten,
      "stop at the first broken promise, and print the shortest life found that breaks it");
  app.add_option("--first", options.first, "the first seed")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (options.list) {
    for (const std::string& name : options.scenarios) {
      std::printf("%s\n", name.c_str());
    }
    return 0;
  }
  muster::sim::Tally total;
  for (const std::string& name : options.scenarios) {
    if (!muster::sim::Run(options, name, total)) {
      return 2;
    }
  }
  return total.broken == 0 ? 0 : 1;
}
