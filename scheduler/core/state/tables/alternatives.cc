#include "scheduler/core/state/tables/alternatives.h"

#include <algorithm>

#include "scheduler/base/status.h"

namespace muster::core {

std::uint32_t AlternativesOf(const JobSpec& spec) {
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(spec.alternatives.size()));
}

JobSpec AsChosen(const JobSpec& spec, std::uint32_t alternative, std::uint32_t tasks) {
  MUSTER_CHECK(alternative < AlternativesOf(spec));
  JobSpec chosen = spec;
  if (!spec.alternatives.empty()) {
    chosen.request = spec.alternatives[alternative].request;
    chosen.time_limit = spec.alternatives[alternative].time_limit;
  }
  if (tasks > 0) {
    chosen.request.tasks = tasks;
  }
  return chosen;
}

JobSpec AsAsked(const JobSpec& spec) {
  JobSpec asked = AsChosen(spec, 0, 0);
  if (asked.request.as_wide_as_fits) {
    asked.request.tasks = asked.request.min_nodes * TasksOnEach(asked.request);
  }
  return asked;
}

bool HasChoice(const JobSpec& spec) {
  return !spec.alternatives.empty() || spec.request.as_wide_as_fits;
}

std::uint32_t TasksOnEach(const ResourceRequest& request) {
  return std::max(request.tasks_per_node, 1U);
}

}  // namespace muster::core
