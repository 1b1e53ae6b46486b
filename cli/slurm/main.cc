// muster-slurm: Slurm's commands by their own names. Wiring only.

#include <malloc.h>
#include <unistd.h>

#include <iostream>

#include "cli/controller/connection.h"
#include "cli/slurm/commands.h"
#include "scheduler/runtime/identity/signing_key.h"

namespace {

constexpr int kHeapKept = 32 << 20;

}  // namespace

int main(int argc, char** argv) {
  // Long lists are read into vectors that grow: what one gives back is used again by the next, and
  // not asked of the kernel again, page by page.
  mallopt(M_MMAP_THRESHOLD, kHeapKept);  // NOLINT(concurrency-mt-unsafe): before any thread
  mallopt(M_TRIM_THRESHOLD, kHeapKept);  // NOLINT(concurrency-mt-unsafe): before any thread
  const muster::cli::Environment environment = muster::cli::Environment::Copy(environ);
  muster::cli::QuietGrpc();
  muster::KeepOpenSslToTheEnd();
  return muster::cli::slurm::RunSlurmCommand(environment, {argv, argv + argc}, std::cout,
                                             std::cerr);
}
