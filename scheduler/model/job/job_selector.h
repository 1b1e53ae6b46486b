#pragma once

// Which jobs a request means: a job, elements of an array, or a component.
//
// Invariants: `elements` is empty (the job, or the whole of it) or ascending without repeats; a
// selector names elements or a component, not both. A component is the command line's word: a
// request names it by its own id.

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"

namespace muster {

// Jobs and elements that one call names, at most. An array has an id of its own: few name many.
inline constexpr std::uint64_t kSelectedJobsMax = 10'000;

struct JobSelector {
  JobId job;
  std::vector<std::uint32_t> elements = {};
  std::optional<std::uint32_t> component = {};  // of a heterogeneous job
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &JobSelector::job}, Field{"elements", &JobSelector::elements});
  }
  friend bool operator==(const JobSelector&, const JobSelector&) = default;
};

}  // namespace muster
