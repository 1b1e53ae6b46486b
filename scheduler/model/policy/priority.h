#pragma once

// A job's priority with all that it is made of, so that it can be explained.
//
// core/share/priority.h makes it. Invariant: the points of all terms add up to the total, to the
// last one.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/policy/share_status.h"
#include "scheduler/model/value/fields.h"

namespace muster {

// One weighted factor: its name is Slurm's (age, assoc, fairshare, jobsize, partition, qos,
// "tres/cpu" …).
struct WeightedFactor {
  std::string name;
  std::uint32_t weight = 0;
  Factor factor;
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &WeightedFactor::name}, Field{"weight", &WeightedFactor::weight},
                Field{"factor", &WeightedFactor::factor});
  }
  friend bool operator==(const WeightedFactor&, const WeightedFactor&) = default;
};

// What a priority is made from.
struct PriorityRequest {
  bool held = false;
  std::int64_t site = 0;                // the site's own number, added as it is
  std::vector<WeightedFactor> factors;  // in the order in which they are explained
  std::int64_t nice = 0;                // taken away as it is
  static constexpr auto Fields(auto list) {
    return list(Field{"held", &PriorityRequest::held}, Field{"site", &PriorityRequest::site},
                Field{"factors", &PriorityRequest::factors}, Field{"nice", &PriorityRequest::nice});
  }
  friend bool operator==(const PriorityRequest&, const PriorityRequest&) = default;
};

struct PriorityTerm {
  std::string name;  // as the factor's; or site, nice, bounds, held
  std::uint32_t weight = 0;
  Factor factor;
  std::int64_t points = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &PriorityTerm::name}, Field{"weight", &PriorityTerm::weight},
                Field{"factor", &PriorityTerm::factor}, Field{"points", &PriorityTerm::points});
  }
  friend bool operator==(const PriorityTerm&, const PriorityTerm&) = default;
};

struct Priority {
  std::uint32_t total = 0;  // 0: held
  std::vector<PriorityTerm> terms;
  static constexpr auto Fields(auto list) {
    return list(Field{"total", &Priority::total}, Field{"terms", &Priority::terms});
  }
  friend bool operator==(const Priority&, const Priority&) = default;
};

}  // namespace muster
