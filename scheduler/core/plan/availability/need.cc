#include "scheduler/core/plan/availability/need.h"

namespace muster::core {

Need LaterNeed(const Need& need) {
  Need later = need;
  if (!need.request->gpu_share.zero() && !need.whole_gpus) {
    constexpr std::uint64_t kOther = 0x9e3779b97f4a7c15U;  // shapes are fingerprints
    later.whole_gpus = true;
    later.shape ^= kOther;
  }
  return later;
}

}  // namespace muster::core
