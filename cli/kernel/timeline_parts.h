#pragma once

// Timelines of several ranks on one clock: what PhaseMarker wrote, and what PyTorch's profiler did.
//
// PhaseMarker (agent/kernels/harness) writes a list of trace events: pid is the rank, ts the wall
// clock in microseconds. PyTorch's profiler, Kineto, writes a document: its events' ts count from
// "baseTimeNanoseconds" (without it from 1970), its pids are processes, GPUs and words, the same
// for every rank, and flows have ids of their own file. Pure. Invariants: no event is lost; after
// LineUp no two ranks share a process or a flow, and every ts counts from what it returns.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/json_output.h"

namespace muster::cli {

struct TimelinePart {
  Json events;  // a list
  bool pytorch = false;
  std::int64_t base = 0;  // nanoseconds since 1970 from which its ts count
  int rank = 0;           // of PyTorch's
};

// `place`: its place among the files, which is the rank of a PyTorch program that does not know
// one. InvalidArgument for what is no list of trace events.
absl::StatusOr<TimelinePart> TimelinePartOf(Json document, int place);

// Nanoseconds since 1970 from which all of them count then. Without a part of PyTorch's nothing
// changes.
std::int64_t LineUp(std::vector<TimelinePart>* parts);

}  // namespace muster::cli
