// muster: the command line. Wiring only.

#include <unistd.h>

#include <iostream>

#include "cli/controller/connection.h"
#include "cli/frame/command_line.h"
#include "cli/frame/verbs.h"
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
      muster::HealthVerb(),    muster::SlurmVerb(),       muster::ImportVerb(),
      muster::HelpVerb(),      muster::ManualVerb(),      muster::TokenVerb(),
      muster::WebVerb(),
  };
  return muster::RunCommandLine(verbs, environment, {argv + 1, argv + argc},
                                {.out = std::cout, .err = std::cerr});
}
