// muster-slurm: Slurm's commands by their own names. Wiring only.

#include <unistd.h>

#include <iostream>

#include "cli/controller/connection.h"
#include "cli/slurm/commands.h"
#include "scheduler/runtime/identity/signing_key.h"

int main(int argc, char** argv) {
  const muster::cli::Environment environment = muster::cli::Environment::Copy(environ);
  muster::cli::QuietGrpc();
  muster::KeepOpenSslToTheEnd();
  return muster::cli::slurm::RunSlurmCommand(environment, {argv, argv + argc}, std::cout,
                                             std::cerr);
}
