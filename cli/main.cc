// muster: the command line. Wiring only.

#include <unistd.h>

#include <iostream>

#include "cli/cmd_alloc.h"
#include "cli/cmd_attach.h"
#include "cli/cmd_cancel.h"
#include "cli/cmd_cast.h"
#include "cli/cmd_checkpoint.h"
#include "cli/cmd_completion.h"
#include "cli/cmd_drain.h"
#include "cli/cmd_estimate.h"
#include "cli/cmd_explain.h"
#include "cli/cmd_health.h"
#include "cli/cmd_help.h"
#include "cli/cmd_history.h"
#include "cli/cmd_hold.h"
#include "cli/cmd_kernel.h"
#include "cli/cmd_keys.h"
#include "cli/cmd_nodes.h"
#include "cli/cmd_place.h"
#include "cli/cmd_policy.h"
#include "cli/cmd_queue.h"
#include "cli/cmd_release.h"
#include "cli/cmd_replay.h"
#include "cli/cmd_requeue.h"
#include "cli/cmd_resume.h"
#include "cli/cmd_run.h"
#include "cli/cmd_share.h"
#include "cli/cmd_show.h"
#include "cli/cmd_simulate.h"
#include "cli/cmd_submit.h"
#include "cli/cmd_suspend.h"
#include "cli/cmd_topo.h"
#include "cli/cmd_trace.h"
#include "cli/cmd_up.h"
#include "cli/cmd_update.h"
#include "cli/cmd_version.h"
#include "cli/cmd_whatif.h"
#include "cli/command_line.h"
#include "cli/connection.h"
#include "scheduler/runtime/signing_key.h"

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
      muster::HealthVerb(),    muster::HelpVerb(),
  };
  return muster::RunCommandLine(verbs, environment, {argv + 1, argv + argc},
                                {.out = std::cout, .err = std::cerr});
}
