#pragma once

// The settings of nodes that are switched off while nobody needs them: one [power.NAME] of the
// configuration, for nodes that are alike.
//
// Invariants: durations and watts are not negative; `idle` zero: nothing is switched off.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct PowerClass {
  std::string name;
  std::string nodes;   // a host list; "ALL": every node
  std::string except;  // of these, the ones that stay on; empty: none
  Duration idle{0};    // so long without a job, and a node is switched off
  Duration suspend_time = std::chrono::seconds(30);    // from the order until it is off
  Duration boot_time = std::chrono::seconds(120);      // until there are measured ones
  Duration resume_timeout = std::chrono::minutes(10);  // then it did not boot
  std::uint32_t busy_watts = 0;  // of a node on which all CPUs work, that boots or shuts down
  std::uint32_t idle_watts = 0;
  std::uint32_t off_watts = 0;
  std::uint32_t keep_on = 0;  // idle nodes that stay on
  std::uint32_t most_on = 0;  // cloud nodes that may be on at once; 0: all
  std::uint32_t rate = 0;     // nodes that are switched off, and nodes on, in a minute; 0: any
  std::string suspend;        // the program that switches nodes off, and the one that switches on
  std::string resume;
  std::string user;  // as whom they run; empty: as the controller does
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &PowerClass::name}, Field{"nodes", &PowerClass::nodes},
                Field{"except", &PowerClass::except}, Field{"idle", &PowerClass::idle},
                Field{"suspend_time", &PowerClass::suspend_time},
                Field{"boot_time", &PowerClass::boot_time},
                Field{"resume_timeout", &PowerClass::resume_timeout},
                Field{"busy_watts", &PowerClass::busy_watts},
                Field{"idle_watts", &PowerClass::idle_watts},
                Field{"off_watts", &PowerClass::off_watts}, Field{"keep_on", &PowerClass::keep_on},
                Field{"most_on", &PowerClass::most_on}, Field{"rate", &PowerClass::rate},
                Field{"suspend", &PowerClass::suspend}, Field{"resume", &PowerClass::resume},
                Field{"user", &PowerClass::user});
  }
  friend bool operator==(const PowerClass&, const PowerClass&) = default;
};

}  // namespace muster
