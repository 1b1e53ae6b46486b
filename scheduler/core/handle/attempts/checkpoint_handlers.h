#pragma once

// Advises running attempts about checkpoints: that a node of theirs is to leave, and how often
// nodes fail.
//
// An attempt's first advice comes with its launch orders. Invariants: each advice has a higher
// number than the one before; an attempt that is ordered to end is advised no more.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"

namespace muster::core {

// The programs of the attempt have yet to answer its notice.
bool OwesAnswer(const CheckpointAdvice& advice, const CheckpointRecord& record);

// Tells the job's attempt, wherever it has not ended; the number is the next. At most once a
// transition.
void GiveAdvice(const Job& job, CheckpointAdvice advice, Time now, Transition& transition);

// A checkpoint is wanted of it at once: a node of it is to take nothing more.
void NoticeDrain(const Job& job, Time now, Transition& transition);

// A checkpoint is wanted at once of what runs on the node, which is to take nothing more.
void NoticeDrain(const ClusterState& state, NodeId node, Time now, Transition& transition);

// Advises attempts that make checkpoints again when their nodes fail, or are lost, more often, or
// less, by more than a quarter than their advice assumes. One that has not answered its notice is
// not disturbed.
void AdviseAgain(const ClusterState& state, Time now, Transition& transition);

}  // namespace muster::core
