#pragma once

// What `muster update` changes of a job: the members that are set.
//
// Invariants: core/handle/changed_options decides which of them a job that has started may still
// take.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/job/dependency.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct JobUpdate {
  std::optional<std::string> name;
  std::optional<std::string> comment;
  std::optional<Duration> time_limit;
  std::optional<std::int32_t> nice;
  std::optional<Time> begin;
  std::optional<Time> deadline;
  std::optional<Dependency> dependency;  // without terms: none any more
  // Further options of a request that a waiting job is to have as `asked` says: "partition",
  // "nodes", "mem". Their names: core/handle/changed_options.
  std::vector<std::string> options = {};
  std::optional<JobSpec> asked = {};
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &JobUpdate::name}, Field{"comment", &JobUpdate::comment},
                Field{"time_limit", &JobUpdate::time_limit}, Field{"nice", &JobUpdate::nice},
                Field{"begin", &JobUpdate::begin}, Field{"deadline", &JobUpdate::deadline},
                Field{"dependency", &JobUpdate::dependency}, Field{"options", &JobUpdate::options},
                Field{"asked", &JobUpdate::asked});
  }
  friend bool operator==(const JobUpdate&, const JobUpdate&) = default;
};

}  // namespace muster
