#include "agent/supervisor/user_space/process_limits.h"

#include "scheduler/runtime/program/resource_limits.h"

namespace muster::agent {

std::vector<SessionTraits::Limit> ProcessLimits(const std::vector<ProcessLimit>& limits) {
  std::vector<SessionTraits::Limit> known;
  for (const ProcessLimit& limit : limits) {
    for (const ResourceLimit& resource : kResourceLimits) {
      if (limit.name == resource.name) {
        const rlim_t amount = limit.amount == UINT64_MAX ? RLIM_INFINITY : limit.amount;
        known.push_back({resource.number, {amount, amount}});
      }
    }
  }
  return known;
}

}  // namespace muster::agent
