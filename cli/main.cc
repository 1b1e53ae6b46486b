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
#define MUSTER_NAMED(NAME, ...) {NAME, muster::cli::__VA_ARGS__},
#define MUSTER_NAMED_SLURM(NAME, MAKE) {NAME, muster::cli::slurm::MAKE},
  const std::vector<muster::cli::NamedVerb> verbs = {
      MUSTER_VERBS(MUSTER_NAMED, MUSTER_NAMED_SLURM)};
#undef MUSTER_NAMED
#undef MUSTER_NAMED_SLURM
  return muster::cli::RunCommandLine(verbs, environment, {argv + 1, argv + argc},
                                     {.out = std::cout, .err = std::cerr});
}
