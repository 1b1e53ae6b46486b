#include "scheduler/core/plan/queue/queue_order.h"

namespace muster::core {

std::int64_t PlainPriority(const JobSpec& spec) {
  return spec.priority > 0 ? std::int64_t{spec.priority} : kBasePriority - spec.nice;
}

bool GoesBefore(const WaitingJob& a, const WaitingJob& b) {
  const std::int64_t own = PlainPriority(*a.spec);
  const std::int64_t other = PlainPriority(*b.spec);
  if (own != other) {
    return own > other;
  }
  return a.id < b.id;
}

}  // namespace muster::core
