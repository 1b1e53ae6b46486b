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
  const std::vector<muster::cli::NamedVerb> verbs = {
      {"up", muster::cli::UpVerb},
      {"submit", muster::cli::SubmitVerb},
      {"run", muster::cli::RunVerb},
      {"alloc", muster::cli::AllocVerb},
      {"attach", muster::cli::AttachVerb},
      {"cast", muster::cli::CastVerb},
      {"queue", muster::cli::QueueVerb},
      {"history", muster::cli::HistoryVerb},
      {"show", muster::cli::ShowVerb},
      {"explain", muster::cli::ExplainVerb},
      {"cancel", muster::cli::CancelVerb},
      {"hold", muster::cli::HoldVerb},
      {"release", muster::cli::ReleaseVerb},
      {"suspend", muster::cli::SuspendVerb},
      {"resume", muster::cli::ResumeVerb},
      {"requeue", muster::cli::RequeueVerb},
      {"update", muster::cli::UpdateVerb},
      {"nodes", muster::cli::NodesVerb},
      {"topo", muster::cli::TopoVerb},
      {"place", muster::cli::PlaceVerb},
      {"drain", muster::cli::DrainVerb},
      {"reboot", muster::cli::RebootVerb},
      {"partition", muster::cli::PartitionVerb},
      {"qos", muster::cli::QosVerb},
      {"accounts", muster::cli::AccountsVerb},
      {"share", muster::cli::ShareVerb},
      {"reservation", muster::cli::ReservationVerb},
      {"simulate", muster::cli::SimulateVerb},
      {"whatif", muster::cli::WhatifVerb},
      {"trace", muster::cli::TraceVerb},
      {"checkpoint", muster::cli::CheckpointVerb},
      {"estimate", muster::cli::EstimateVerb},
      {"kernel", muster::cli::KernelVerb},
      {"keys", muster::cli::KeysVerb},
      {"replay", muster::cli::ReplayVerb},
      {"completion", muster::cli::CompletionVerb, true},
      {"version", muster::cli::VersionVerb},
      {"health", muster::cli::HealthVerb},
      {"slurm", muster::cli::slurm::SlurmVerb},
      {"import", muster::cli::ImportVerb},
      {"help", muster::cli::HelpVerb, true},
      {"manual", muster::cli::ManualVerb, true},
      {"token", muster::cli::TokenVerb},
      {"web", muster::cli::WebVerb},
      {"tune", muster::cli::TuneVerb},
      {"controller", muster::cli::ControllerVerb},
      {"store", muster::cli::StoreVerb},
      {"events", muster::cli::EventsVerb},
      {"report", muster::cli::ReportVerb},
      {"alerts", muster::cli::AlertsVerb},
  };
  return muster::cli::RunCommandLine(verbs, environment, {argv + 1, argv + argc},
                                     {.out = std::cout, .err = std::cerr});
}
