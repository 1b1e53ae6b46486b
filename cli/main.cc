// muster: the command line. Wiring only.

#include <unistd.h>

#include <iostream>

#include "cli/checkpoint/cmd_checkpoint.h"
#include "cli/cluster/cmd_drain.h"
#include "cli/cluster/cmd_health.h"
#include "cli/cluster/cmd_keys.h"
#include "cli/cluster/cmd_nodes.h"
#include "cli/cluster/cmd_policy.h"
#include "cli/cluster/cmd_replay.h"
#include "cli/cluster/cmd_topo.h"
#include "cli/controller/connection.h"
#include "cli/frame/cmd_completion.h"
#include "cli/frame/cmd_help.h"
#include "cli/frame/cmd_version.h"
#include "cli/frame/command_line.h"
#include "cli/jobs/cmd_cancel.h"
#include "cli/jobs/cmd_explain.h"
#include "cli/jobs/cmd_history.h"
#include "cli/jobs/cmd_hold.h"
#include "cli/jobs/cmd_queue.h"
#include "cli/jobs/cmd_release.h"
#include "cli/jobs/cmd_requeue.h"
#include "cli/jobs/cmd_resume.h"
#include "cli/jobs/cmd_show.h"
#include "cli/jobs/cmd_submit.h"
#include "cli/jobs/cmd_suspend.h"
#include "cli/jobs/cmd_update.h"
#include "cli/kernel/cmd_kernel.h"
#include "cli/place/cmd_estimate.h"
#include "cli/place/cmd_place.h"
#include "cli/run/cmd_alloc.h"
#include "cli/run/cmd_attach.h"
#include "cli/run/cmd_cast.h"
#include "cli/run/cmd_run.h"
#include "cli/share/cmd_share.h"
#include "cli/simulate/cmd_simulate.h"
#include "cli/simulate/cmd_trace.h"
#include "cli/slurm/links/cmd_slurm.h"
#include "cli/up/cmd_up.h"
#include "cli/whatif/cmd_whatif.h"
#include "scheduler/runtime/identity/signing_key.h"

int main(int argc, char** argv) {
  const muster::Environment environment = muster::Environment::Copy(environ);
  muster::QuietGrpc();
  muster::KeepOpenSslToTheEnd();
  const std::vector<muster::Verb> verbs = {
      muster::UpVerb(),        muster::SubmitVerb(),      muster::RunVerb(),
      muster::AllocVerb(),     muster::AttachVerb(),      muster::CastVerb(),
      muster::QueueVerb(),     muster::HistoryVerb(),     muster::ShowVerb(),
      muster::ExplainVerb(),   muster::CancelVerb(),      muster::HoldVerb(),
      muster::ReleaseVerb(),   muster::SuspendVerb(),     muster::ResumeVerb(),
      muster::RequeueVerb(),   muster::UpdateVerb(),      muster::NodesVerb(),
      muster::TopoVerb(),      muster::PlaceVerb(),       muster::DrainVerb(),
      muster::PartitionVerb(), muster::QosVerb(),         muster::AccountsVerb(),
      muster::ShareVerb(),     muster::ReservationVerb(), muster::SimulateVerb(),
      muster::WhatifVerb(),    muster::TraceVerb(),       muster::CheckpointVerb(),
      muster::EstimateVerb(),  muster::KernelVerb(),      muster::KeysVerb(),
      muster::ReplayVerb(),    muster::CompletionVerb(),  muster::VersionVerb(),
      muster::HealthVerb(),    muster::SlurmVerb(),       muster::HelpVerb(),
  };
  return muster::RunCommandLine(verbs, environment, {argv + 1, argv + argc},
                                {.out = std::cout, .err = std::cerr});
}
