#pragma once

// What nodes say of jobs and of themselves beyond that something began or ended: usage,
// checkpoints, bindings that differ, ends of every kind, and figures of health.
//
// Thread promise: pure but for the sequence. Invariants: the same sequence gives the same facts; a
// checkpoint never goes back behind one before it.

#include <vector>

#include "scheduler/model/job/checkpoint_record.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/value/time.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

void AddToStart(const JobSpec& spec, RandomSequence& random, RunStarted* started);
void AddToBinding(RandomSequence& random, BindingRead* read);
// Of a part that ends by itself, a cause and a status too.
void AddToEnd(const JobSpec& spec, RandomSequence& random, RunEnded* ended);
void AddToStepEnd(RandomSequence& random, StepEnded* ended);

// After another one at `now`, of an attempt of that number; `notice`: the one that it answers.
CheckpointRecord NextCheckpoint(const CheckpointRecord& before, AttemptNumber attempt,
                                std::uint32_t notice, Time now, RandomSequence& random);

// What a check of the node's health says.
HealthReport DrawHealthReport(const HealthOrder& order, RandomSequence& random);

}  // namespace muster::sim
