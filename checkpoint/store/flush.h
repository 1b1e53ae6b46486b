#pragma once

// Copying what was committed on one rank's local level to the shared one: the work of the helper
// muster-checkpoint-flush, and how a program starts it.
//
// The helper is a process of its own in a session of its own, so that it ends neither with the
// program nor with its terminal: the next subreaper (the supervisor of the job) adopts it. It ends
// when nothing is left to do. Thread promise: one thread at a time. Invariants: (1) in the shared
// directory a generation appears whole or not at all, wherever the helper is killed; (2) one helper
// works for a rank at a time; (3) a generation that failed is reported and left, and the next one
// is tried.

#include <cstdint>
#include <string>

#include "checkpoint/advice/retention.h"
#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/error.h"

namespace muster::checkpoint {

struct FlushPlan {
  std::string local;   // one rank's
  std::string shared;  // of all ranks
  std::uint32_t rank = 0;
  Retention retention;      // in the shared directory
  std::string progress;     // the page on which it tells how long each took; "": none
  std::uint64_t rate = 0;   // bytes a second at the most; 0: as fast as it goes
  std::string admission{};  // see admission.h
};

// Flushes what the local level's queue holds, the oldest first, until it is empty, or another
// helper is at it. The last thing that went wrong.
Error FlushAll(const FlushPlan& plan, Disk& disk = Disk::Real());

// Starts `program` with the plan, and does not wait for it. kSystem: it cannot be started.
Error StartFlush(const std::string& program, const FlushPlan& plan);

// The helper: words as StartFlush gives them; MUSTER_CHECKPOINT_RATE is the plan's rate. Exit
// status 0, 1 when something went wrong, 2 for bad usage.
int FlushMain(int argc, char** argv);

}  // namespace muster::checkpoint
