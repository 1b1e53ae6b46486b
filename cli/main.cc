// muster: the command line. Wiring only.

#include <unistd.h>

#include <iostream>

#include "cli/controller/connection.h"
#include "cli/frame/command_line.h"
#include "cli/frame/verbs.h"
#include "scheduler/runtime/identity/signing_key.h"

int main(int argc, char** argv) {
  const muster::cli::Environment environment = muster::cli::Environment::Copy(environ);
  muster::cli::QuietGrpc();
  muster::KeepOpenSslToTheEnd();
  const std::vector<muster::cli::Verb> verbs = {
      muster::cli::UpVerb(),        muster::cli::SubmitVerb(),       muster::cli::RunVerb(),
      muster::cli::AllocVerb(),     muster::cli::AttachVerb(),       muster::cli::CastVerb(),
      muster::cli::QueueVerb(),     muster::cli::HistoryVerb(),      muster::cli::ShowVerb(),
      muster::cli::ExplainVerb(),   muster::cli::CancelVerb(),       muster::cli::HoldVerb(),
      muster::cli::ReleaseVerb(),   muster::cli::SuspendVerb(),      muster::cli::ResumeVerb(),
      muster::cli::RequeueVerb(),   muster::cli::UpdateVerb(),       muster::cli::NodesVerb(),
      muster::cli::TopoVerb(),      muster::cli::PlaceVerb(),        muster::cli::DrainVerb(),
      muster::cli::PartitionVerb(), muster::cli::QosVerb(),          muster::cli::AccountsVerb(),
      muster::cli::ShareVerb(),     muster::cli::ReservationVerb(),  muster::cli::SimulateVerb(),
      muster::cli::WhatifVerb(),    muster::cli::TraceVerb(),        muster::cli::CheckpointVerb(),
      muster::cli::EstimateVerb(),  muster::cli::KernelVerb(),       muster::cli::KeysVerb(),
      muster::cli::ReplayVerb(),    muster::cli::CompletionVerb(),   muster::cli::VersionVerb(),
      muster::cli::HealthVerb(),    muster::cli::slurm::SlurmVerb(), muster::cli::ImportVerb(),
      muster::cli::HelpVerb(),      muster::cli::ManualVerb(),       muster::cli::TokenVerb(),
      muster::cli::WebVerb(),       muster::cli::EventsVerb(),       muster::cli::AlertsVerb(),
  };
  return muster::cli::RunCommandLine(verbs, environment, {argv + 1, argv + argc},
                                     {.out = std::cout, .err = std::cerr});
}
