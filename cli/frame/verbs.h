#pragma once

// Every verb of the command line, in the order of its help.
//
// The function that makes a verb stands in the room that holds its options, help and action
// (cmd_VERB.cc). A verb says what it is and does in the text of its own help; see verb.h for the
// frame. Thread promise: all run on the main thread.

#include "cli/frame/verb.h"

namespace muster::cli {

// VERB(name, function) for each verb; a third argument `true`: it needs all of them. SLURM_VERB is
// for those that stand in cli::slurm.
#define MUSTER_VERBS(VERB, SLURM_VERB)     \
  VERB("up", UpVerb)                       \
  VERB("down", DownVerb)                   \
  VERB("submit", SubmitVerb)               \
  VERB("run", RunVerb)                     \
  VERB("alloc", AllocVerb)                 \
  VERB("attach", AttachVerb)               \
  VERB("logs", LogsVerb)                   \
  VERB("exec", ExecVerb)                   \
  VERB("connect", ConnectVerb)             \
  VERB("forward", ForwardVerb)             \
  VERB("dev", DevVerb)                     \
  VERB("top", TopVerb)                     \
  VERB("cast", CastVerb)                   \
  VERB("images", ImagesVerb)               \
  VERB("tell", TellVerb)                   \
  VERB("stage", StageVerb)                 \
  VERB("service", ServiceVerb)             \
  VERB("queue", QueueVerb)                 \
  VERB("history", HistoryVerb)             \
  VERB("show", ShowVerb)                   \
  VERB("diff", DiffVerb)                   \
  VERB("drill", DrillVerb)                 \
  VERB("explain", ExplainVerb)             \
  VERB("cancel", CancelVerb)               \
  VERB("hold", HoldVerb)                   \
  VERB("release", ReleaseVerb)             \
  VERB("suspend", SuspendVerb)             \
  VERB("resume", ResumeVerb)               \
  VERB("requeue", RequeueVerb)             \
  VERB("rerun", RerunVerb)                 \
  VERB("update", UpdateVerb)               \
  VERB("nodes", NodesVerb)                 \
  VERB("topo", TopoVerb)                   \
  VERB("place", PlaceVerb)                 \
  VERB("drain", DrainVerb)                 \
  VERB("reboot", RebootVerb)               \
  VERB("partition", PartitionVerb)         \
  VERB("qos", QosVerb)                     \
  VERB("accounts", AccountsVerb)           \
  VERB("share", ShareVerb)                 \
  VERB("reservation", ReservationVerb)     \
  VERB("simulate", SimulateVerb)           \
  VERB("whatif", WhatifVerb)               \
  VERB("trace", TraceVerb)                 \
  VERB("checkpoint", CheckpointVerb)       \
  VERB("estimate", EstimateVerb)           \
  VERB("kernel", KernelVerb)               \
  VERB("scale", ScaleVerb)                 \
  VERB("keys", KeysVerb)                   \
  VERB("replay", ReplayVerb)               \
  VERB("completion", CompletionVerb, true) \
  VERB("version", VersionVerb)             \
  VERB("health", HealthVerb)               \
  SLURM_VERB("slurm", SlurmVerb)           \
  VERB("import", ImportVerb)               \
  VERB("help", HelpVerb, true)             \
  VERB("manual", ManualVerb, true)         \
  VERB("token", TokenVerb)                 \
  VERB("archive", ArchiveVerb)             \
  VERB("web", WebVerb)                     \
  VERB("tune", TuneVerb)                   \
  VERB("controller", ControllerVerb)       \
  VERB("store", StoreVerb)                 \
  VERB("events", EventsVerb)               \
  VERB("report", ReportVerb)               \
  VERB("alerts", AlertsVerb)

#define MUSTER_DECLARED(NAME, MAKE, ...) Verb MAKE();
#define MUSTER_DECLARED_SLURM(NAME, MAKE) \
  namespace slurm {                       \
  Verb MAKE();                            \
  }
MUSTER_VERBS(MUSTER_DECLARED, MUSTER_DECLARED_SLURM)
#undef MUSTER_DECLARED
#undef MUSTER_DECLARED_SLURM

}  // namespace muster::cli
