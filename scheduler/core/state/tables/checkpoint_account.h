#pragma once

// What checkpoints and failures cost an attempt and its job.
//
// Of an attempt on several nodes the programs make checkpoints together: what counts is what every
// node that reported any has. The time that an attempt held its resources is work that was kept,
// work that is lost, time stood still for checkpoints and time until it had come back from one.
// Invariant: lost, stall and restart together are at most what was held.

#include "scheduler/model/job/checkpoint_record.h"
#include "scheduler/model/job/job.h"

namespace muster::core {

// Of all nodes of the attempt together.
CheckpointRecord CheckpointsOf(const Attempt& attempt);

// True when the attempt ended, or ends, for reasons of the scheduler or of a node, and not by
// itself, by its user or by a limit: what it had not saved has to be done again.
bool LosesWork(const Job& job);

// The work of an attempt that ends so at `end`: since its newest checkpoint was done, or since it
// had come back from one of an earlier attempt, or since its start. Zero when it loses none.
Duration LostWork(const Job& job, Time end);

// The job's totals with those of its attempt, if it has one, that ends at `end`.
CheckpointTotals TotalsAtEnd(const Job& job, Time end);

// The same while the attempt runs: what it reported so far, without the time that it holds its
// resources.
CheckpointTotals TotalsSoFar(const Job& job);

// What a change of the attempt's size costs by its own checkpoints: writing one, and coming back
// from it; 0: it was not measured.
Duration ChangeCostOf(const Attempt& attempt);

}  // namespace muster::core
