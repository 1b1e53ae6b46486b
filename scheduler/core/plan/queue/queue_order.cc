#include "scheduler/core/plan/queue/queue_order.h"

namespace muster {

bool GoesBefore(const WaitingJob& a, const WaitingJob& b) {
  if (a.spec->nice != b.spec->nice) {
    return a.spec->nice < b.spec->nice;
  }
  return a.id < b.id;
}

}  // namespace muster
