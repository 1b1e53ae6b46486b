#pragma once

// What few users ask for: features, switches and segments, layouts of ranks, GPUs by type, memory
// and profile, countable things, containers, data on nodes, other means of checkpointing, moments
// that come again, and heterogeneous jobs.
//
// For simulated lives that are to go everywhere. Thread promise: pure but for the sequence.
// Invariants: the same sequence gives the same requests; not all are ones that a user could write.

#include <vector>

#include "scheduler/model/change/command.h"
#include "scheduler/model/job/feature_expression.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/time.h"
#include "scheduler/simulator/random_sequence.h"
#include "scheduler/simulator/workload/wishes.h"

namespace muster::sim {

// What a site has besides that DrawRareChange may make.
void NameRareSite(WishList* list);
// Of a node, from those that jobs ask for.
std::vector<std::string> DrawFeatures(RandomSequence& random);

// Changes the job into one with some of them, or with a mistake in it.
void AddRareWishes(const WishList& list, Time now, RandomSequence& random, JobSpec* spec);
// Now and then after these jobs, or after an element of their arrays.
void AddRareDependency(const std::vector<JobId>& jobs, RandomSequence& random, SubmitJob* submit);
// Now and then further components, which AddWishes may have changed each.
void AddComponents(const WishList& list, Time now, RandomSequence& random, SubmitJob* submit);
// A step of a job of such a site.
StepSpec DrawStep(const WishList& list, RandomSequence& random);
// Where what it prints is to go.
StepIo DrawStepIo(RandomSequence& random);
// Who asks: an owner of some jobs, a coordinator, an operator, or none of them.
Actor DrawRareActor(RandomSequence& random);
// What a job that there is could have instead, by options of `muster update`.
JobUpdate DrawUpdate(const WishList& list, const std::vector<JobId>& jobs, Time now,
                     RandomSequence& random);

}  // namespace muster::sim
