#pragma once

// The jobs that wait, without a walk over those that run.
//
// Pure. Invariant: as JobTable::ForEachRun, in the order of ids, each pending job once: those of
// the index one by one, untouched elements by their runs.

#include <cstdint>

#include "scheduler/core/state/cluster_state.h"

namespace muster::core {

// Calls visit(job, count) until it returns false.
template <class Visitor>
void ForEachPendingWhile(const ClusterState& state, const Visitor& visit) {
  const JobTable& jobs = state.jobs();
  auto next = state.index().pending().begin();
  const auto end = state.index().pending().end();
  bool goes_on = true;
  jobs.ForEachUntouched([&](const Job& job, std::uint32_t count) {
    for (; goes_on && next != end && *next < job.id; ++next) {
      goes_on = visit(*jobs.Find(*next), std::uint32_t{1});
    }
    goes_on = goes_on && visit(job, count);
  });
  for (; goes_on && next != end; ++next) {
    goes_on = visit(*jobs.Find(*next), std::uint32_t{1});
  }
}

}  // namespace muster::core
