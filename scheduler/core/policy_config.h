#pragma once

// The settings of the scheduler, as one value that is passed along.
//
// Thread promise: plain value. Invariants: durations are not negative.

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/model/fields.h"
#include "scheduler/model/license.h"
#include "scheduler/model/time.h"

namespace muster {

// Which waiting jobs may overtake one that waits for resources.
enum class Backfill : std::uint8_t {
  kNone = 0,          // none do
  kEasy = 1,          // those that do not delay the first (Lifka, JSSPP 1995)
  kConservative = 2,  // those that delay nobody (Mu'alem and Feitelson, TPDS 12(6), 2001)
  kHybrid = 3,        // those that do not delay the first `reservations`
};

struct PolicyConfig {
  Backfill backfill = Backfill::kHybrid;
  std::uint32_t reservations = 100;        // of kHybrid
  std::uint32_t reservations_max = 10000;  // of kConservative: jobs beyond are not protected
  Duration default_time_limit{0};          // for jobs that say none; 0: none
  Duration kill_grace = std::chrono::seconds(30);  // between SIGTERM and SIGKILL
  std::uint64_t array_elements_max = 1'000'000;
  std::uint32_t tasks_max = 1U << 20;
  std::uint32_t nodes_max = 1U << 16;
  std::uint32_t requeues_max = 5;      // then a job is held
  std::uint32_t operator_uid = 0;      // who runs the controller: may what root may
  std::vector<LicenseCount> licenses;  // what the cluster has, sorted by name
  static constexpr auto Fields() {
    return std::tuple{Field{"backfill", &PolicyConfig::backfill},
                      Field{"reservations", &PolicyConfig::reservations},
                      Field{"reservations_max", &PolicyConfig::reservations_max},
                      Field{"default_time_limit", &PolicyConfig::default_time_limit},
                      Field{"kill_grace", &PolicyConfig::kill_grace},
                      Field{"array_elements_max", &PolicyConfig::array_elements_max},
                      Field{"tasks_max", &PolicyConfig::tasks_max},
                      Field{"nodes_max", &PolicyConfig::nodes_max},
                      Field{"requeues_max", &PolicyConfig::requeues_max},
                      Field{"operator_uid", &PolicyConfig::operator_uid},
                      Field{"licenses", &PolicyConfig::licenses}};
  }
};

inline constexpr std::array<std::pair<Backfill, const char*>, 4> kBackfillNames = {
    {{Backfill::kNone, "none"},
     {Backfill::kEasy, "easy"},
     {Backfill::kConservative, "conservative"},
     {Backfill::kHybrid, "hybrid"}}};

constexpr const char* Name(Backfill backfill) {
  return kBackfillNames[static_cast<std::size_t>(backfill)].second;
}

constexpr std::optional<Backfill> ParseBackfill(std::string_view name) {
  for (const auto& [backfill, its_name] : kBackfillNames) {
    if (name == its_name) {
      return backfill;
    }
  }
  return std::nullopt;
}

// How many blocked jobs are kept a place in the future.
constexpr std::uint32_t ReservationsOf(const PolicyConfig& config) {
  switch (config.backfill) {
    case Backfill::kNone:
      return 0;
    case Backfill::kEasy:
      return 1;
    case Backfill::kConservative:
      return config.reservations_max;
    case Backfill::kHybrid:
      return config.reservations;
  }
  return 0;
}

}  // namespace muster
