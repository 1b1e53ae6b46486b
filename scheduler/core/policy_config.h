#pragma once

// The settings of the scheduler, as one value that is passed along.
//
// Thread promise: plain value. Invariants: durations are not negative.

#include <chrono>
#include <cstdint>

#include "scheduler/model/fields.h"
#include "scheduler/model/time.h"

namespace muster {

struct PolicyConfig {
  Duration default_time_limit{0};                  // for jobs that say none; 0: none
  Duration kill_grace = std::chrono::seconds(30);  // between SIGTERM and SIGKILL
  std::uint64_t array_elements_max = 1'000'000;
  std::uint32_t tasks_max = 1U << 20;
  std::uint32_t nodes_max = 1U << 16;
  static constexpr auto Fields() {
    return std::tuple{Field{"default_time_limit", &PolicyConfig::default_time_limit},
                      Field{"kill_grace", &PolicyConfig::kill_grace},
                      Field{"array_elements_max", &PolicyConfig::array_elements_max},
                      Field{"tasks_max", &PolicyConfig::tasks_max},
                      Field{"nodes_max", &PolicyConfig::nodes_max}};
  }
};

}  // namespace muster
