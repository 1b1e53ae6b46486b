#pragma once

// What trackable resources (Slurm's TRES) weigh in a bill, by name.
//
// Names are Slurm's, in lower case but for what follows a slash: cpu, mem, node, energy, billing,
// gres/gpu, gres/gpu:a100, license/matlab, bb/NAME, fs/disk. Invariants: (1) memory is in bytes,
// whatever unit a weight is for; (2) a weight is in millionths, for 2^unit_bits of the resource.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"

namespace muster {

struct TresAmount {
  std::string tres;
  std::uint64_t amount = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"tres", &TresAmount::tres}, Field{"amount", &TresAmount::amount});
  }
  friend bool operator==(const TresAmount&, const TresAmount&) = default;
};

struct TresWeight {
  std::string tres;
  std::uint64_t weight = 0;     // millionths
  std::uint32_t unit_bits = 0;  // 0: for each one; 30: for each GiB
  static constexpr auto Fields(auto list) {
    return list(Field{"tres", &TresWeight::tres}, Field{"weight", &TresWeight::weight},
                Field{"unit_bits", &TresWeight::unit_bits});
  }
  friend bool operator==(const TresWeight&, const TresWeight&) = default;
};

// How weighted resources become one number (Slurm's PriorityFlags).
enum class BillingRule : std::uint8_t {
  kSum = 0,
  kMaxTres = 1,      // MAX_TRES: the largest of those on a node, and the sum of all others
  kMaxTresGres = 2,  // MAX_TRES_GRES: the same, but the GRES are added
};

}  // namespace muster
