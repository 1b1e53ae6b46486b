#pragma once

// How heat2d keeps its work through failures: checkpoints of the plate by all ranks together.
//
// A checkpoint holds each rank's cells, row after row, and where they lie, so that any number of
// ranks can go on from it. Thread promise: the thread that may call MPI; every call is made by all
// ranks. Invariants: a plate comes back only to the plate that it is of; a checkpoint that fails is
// reported and costs nothing but itself.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/kernels/heat/jacobi.h"
#include "agent/kernels/heat/stencil.h"
#include "agent/kernels/mpi/ranks.h"
#include "checkpoint/muster_checkpoint_mpi.h"

namespace muster::kernels {

// "Checkpointed, run me again."
constexpr int kExitAgain = 85;

struct CheckpointOptions {
  std::string directory;  // empty: no checkpoints
  bool named = false;     // on the command line; else by the environment
  int64_t every = 0;      // steps; 0: when the scheduler's hints say so

  bool on() const { return !directory.empty(); }
};

// Takes --checkpoint-dir and --checkpoint-every out of `arguments`. What is wrong with them; empty
// when nothing is.
std::string TakeCheckpointOptions(std::vector<std::string>* arguments, CheckpointOptions* options);

// The two options' lines of the help.
std::string CheckpointHelp();

// What checkpoints cost a run. Seconds are rank 0's.
struct CheckpointCosts {
  int64_t saved = 0;
  int64_t failed = 0;
  double seconds = 0;
};

class HeatCheckpoint {
 public:
  // Null and a problem on every rank, or on none. `ranks` outlives it.
  static std::unique_ptr<HeatCheckpoint> Open(const CheckpointOptions& options, const Plate& plate,
                                              const Ranks& ranks, std::string* problem);
  ~HeatCheckpoint();
  HeatCheckpoint(const HeatCheckpoint&) = delete;
  HeatCheckpoint& operator=(const HeatCheckpoint&) = delete;

  // Bytes that it takes beside the plate.
  static int64_t BytesOf(const TileRange& tile);

  // The newest plate's cells into `jacobi`, and its step; 0 and nothing done on a first start, 0
  // and a problem when there is a plate that cannot be used. `steps`: the run's.
  int64_t Restore(int64_t steps, Jacobi* jacobi, std::string* problem);

  // After a step that is not the last one: saves when it is time to. False: the program is to end
  // and to be run again.
  bool AfterStep(int64_t step, const Jacobi& jacobi);

  const CheckpointCosts& costs() const { return costs_; }

 private:
  // What lies in a checkpoint beside the cells; a row of numbers, as they are in memory.
  struct Place {
    int64_t nx = 0;
    int64_t ny = 0;
    double alpha = 0;
    uint64_t seed = 0;
    TileRange tile;
    int64_t step = 0;
  };

  HeatCheckpoint(const CheckpointOptions& options, const Plate& plate, const Ranks& ranks);
  bool Wants(int64_t step, int* need);
  void Save(int64_t step, const Jacobi& jacobi);
  // From the checkpoint of another number of ranks. A code of muster_checkpoint.h.
  int ReadOthers(Place* place);
  int ReadFrom(uint32_t rank, Place* place);
  std::string Line() const;
  bool IsOfThisPlate(const Place& place) const;

  const CheckpointOptions options_;
  const Ranks& ranks_;
  Place place_;
  std::vector<double> cells_;
  muster_checkpoint* session_ = nullptr;
  bool unconfirmed_ = false;  // a restart that has not gone a step yet
  CheckpointCosts costs_;
};

}  // namespace muster::kernels
