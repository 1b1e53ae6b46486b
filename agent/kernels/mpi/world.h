#pragma once

// The frame of the kernels that measure communication: MPI begun and ended, options read alike on
// all ranks, repeats timed over all ranks, checks of all ranks joined, one report.
//
// Thread promise: the thread that calls RunMpiKernel, which alone speaks MPI. Invariants: every
// rank makes the same collective calls in the same order; a repeat's time is the longest of all
// ranks, from a common barrier; rank 0 alone prints.

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "agent/kernels/harness/kernel.h"

namespace muster::kernels {

struct World {
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank = 0;
  int size = 1;
};

struct MpiKernel {
  std::string name;
  std::string purpose;
  std::string example;
  std::string n_meaning;
  int64_t n = 0;
  int64_t n_max = 0;
  int least_ranks = 2;
  std::string tolerance;
  // May be empty.
  std::function<void(CommandLine*)> add_options;
  std::function<double(int64_t n, int ranks)> bytes_needed;  // by one rank
  // May be empty. What speaks against measuring here, on this rank or all; the frame tells the
  // first rank's, with its host. Collective.
  std::function<std::string(const World&, const BenchOptions&)> begin;
  // The same operations on every rank. `run` makes one repeat and returns this rank's seconds.
  std::function<std::vector<Operation>(const World&, const BenchOptions&)> prepare;
  std::function<void(const World&, uint64_t seed, Check*)> verify;
  // Merged into the document of rank 0; called on all ranks.
  std::function<nlohmann::ordered_json(const World&, const std::vector<Measured>&)> facts;
};

// The whole program, on each rank. The exit code, the same on all.
int RunMpiKernel(const MpiKernel& kernel, int argc, char** argv);

}  // namespace muster::kernels
