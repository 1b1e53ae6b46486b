#pragma once

// Timelines of several ranks on one clock: what PhaseMarker wrote, and what profilers did.
//
// PhaseMarker (agent/kernels/harness) writes a list of trace events: pid is the rank, ts the wall
// clock in microseconds. PyTorch's profiler, Kineto, writes a document, and HTA (Holistic Trace
// Analysis) one with more events: their ts count from "baseTimeNanoseconds" (without it from 1970),
// pids are processes, GPUs and words, the same for every rank, and flows have ids of their own
// file. What nsys writes (nsys_trace), and lists of events whose pids are words, count from where
// their profile began. Pure. Invariants: no event is lost; after LineUp no two ranks share a
// process or a flow, and every ts counts from what it returns.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/json_output.h"

namespace muster::cli {

struct TimelinePart {
  Json events;            // a list
  bool profiler = false;  // not a marker
  bool clocked = true;    // its ts are of the wall clock
  std::int64_t base = 0;  // nanoseconds since 1970 from which its ts count
  int rank = 0;           // of a profiler's
  // Set by LineUp where it is not `clocked`: it has nothing in common with those that were put on
  // one clock before it, and begins where the first of them does.
  bool unaligned = false;
};

// `place`: its place among the files, which is the rank of a program that does not know one.
// InvalidArgument for what is no list of trace events.
absl::StatusOr<TimelinePart> TimelinePartOf(Json document, int place);

// Nanoseconds since 1970 from which all of them count then; 0 where that is not known. What has no
// clock is put where its collective kernels (NCCL's and RCCL's) end with those of a rank that ran
// the same ones: no rank leaves a collective before the last has come. Without a part of a
// profiler's nothing changes.
std::int64_t LineUp(std::vector<TimelinePart>* parts);

// Of an object: whether there is a number at `key`, and the text there; "" where there is none.
bool IsNumber(const Json& object, const char* key);
std::string TextIn(const Json& object, const char* key);

// Of the trace event: whether it is a range on a GPU, and whether a collective of several ranks.
bool IsOnGpu(const Json& event);
bool IsCommunication(const Json& event);

}  // namespace muster::cli
