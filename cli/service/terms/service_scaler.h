#pragma once

// How many replicas a service needs, by what its replicas report.
//
// The rule is that of Kubernetes' HorizontalPodAutoscaler: as many as bring the average of a
// replica to the target, rounded up; a difference of a tenth changes nothing; a replica that says
// nothing counts as idle where there may be too few, and as at the target where there may be too
// many. Pure. Invariants: the answer is within the rule's bounds; it is never lower than before
// while a higher one was right within the rule's `settle`; at once it at most doubles, or grows by
// four.

#include <cstdint>
#include <deque>
#include <vector>

#include "cli/service/terms/service_terms.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {

// `said`: what each replica reports on average, of those that do; numbers.
std::uint32_t NeededReplicas(const ScaleRule& rule, std::uint32_t replicas,
                             const std::vector<double>& said);

class ServiceScaler {
 public:
  // How many there are to be, of a service that is to have `replicas`. `now` never decreases.
  std::uint32_t Choose(const ScaleRule& rule, std::uint32_t replicas,
                       const std::vector<double>& said, SteadyTime now);

 private:
  struct Need {
    SteadyTime time;
    std::uint32_t replicas = 0;
  };
  std::deque<Need> needs_;  // those that still count, the oldest first
};

}  // namespace muster::cli
