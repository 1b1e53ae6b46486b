#pragma once

// The settings of the scheduler, as one value that is passed along.
//
// Thread promise: plain value. Invariants: durations are not negative.

#include <chrono>
#include <cstdint>
#include <vector>

#include "scheduler/core/backfill.h"
#include "scheduler/model/fields.h"
#include "scheduler/model/license.h"
#include "scheduler/model/time.h"

namespace muster {

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
