#pragma once

// Every verb of the command line, by the room that holds its options, help and action
// (cmd_VERB.cc).
//
// A verb says what it is and does in the text of its own help; see verb.h for the frame. Thread
// promise: all run on the main thread. Invariant: main.cc lists each of them.

#include "cli/frame/verb.h"

namespace muster::cli {

// cli/jobs
Verb CancelVerb();
Verb ExplainVerb();
Verb HistoryVerb();
Verb HoldVerb();
Verb QueueVerb();
Verb ReleaseVerb();
Verb RequeueVerb();
Verb ReportVerb();
Verb ResumeVerb();
Verb ShowVerb();
Verb SubmitVerb();
Verb SuspendVerb();
Verb UpdateVerb();

// cli/run
Verb AllocVerb();
Verb AttachVerb();
Verb CastVerb();
Verb RunVerb();

// cli/cluster
Verb ControllerVerb();
Verb DrainVerb();
Verb EventsVerb();
Verb HealthVerb();
Verb KeysVerb();
Verb NodesVerb();
Verb PartitionVerb();
Verb QosVerb();
Verb RebootVerb();
Verb AccountsVerb();
Verb ReservationVerb();
Verb ReplayVerb();
Verb StoreVerb();
Verb TokenVerb();
Verb TopoVerb();
Verb WebVerb();

// cli/alerts
Verb AlertsVerb();

// cli/share
Verb ShareVerb();

// cli/place
Verb EstimateVerb();
Verb PlaceVerb();

// cli/simulate
Verb SimulateVerb();
Verb TraceVerb();

// cli/whatif
Verb WhatifVerb();

// cli/tune
Verb TuneVerb();

// cli/kernel
Verb KernelVerb();

// cli/checkpoint
Verb CheckpointVerb();

// cli/up
Verb UpVerb();

// cli/frame
Verb CompletionVerb();
Verb HelpVerb();
Verb VersionVerb();

// cli/slurm/links
namespace slurm {
Verb SlurmVerb();
}

// cli/moving
Verb ImportVerb();

// cli/manual
Verb ManualVerb();

}  // namespace muster::cli
