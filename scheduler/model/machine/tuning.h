#pragma once

// A kernel's block sizes that a search found on one node, for all nodes like it.
//
// Invariant: kernel, shape, type and architecture name it; one of a newer version takes the place
// of an older one.

#include <cstdint>
#include <string>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct Tuning {
  std::string kernel;
  std::string shape;         // "1024x1024x1024"
  std::string type;          // "float32"
  std::string architecture;  // what the sizes are good for, as the kernel names it
  std::uint32_t version = 0;
  std::string choice;  // JSON, the kernel's to read
  Time time = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"kernel", &Tuning::kernel}, Field{"shape", &Tuning::shape},
                Field{"type", &Tuning::type}, Field{"architecture", &Tuning::architecture},
                Field{"version", &Tuning::version}, Field{"choice", &Tuning::choice},
                Field{"time", &Tuning::time});
  }
  friend bool operator==(const Tuning&, const Tuning&) = default;
};

}  // namespace muster
