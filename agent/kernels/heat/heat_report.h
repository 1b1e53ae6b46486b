#pragma once

// What heat2d was asked, what it found, and how it says so: text for people, one JSON line for
// programs.
//
// Thread promise: one thread. Invariant: the residual is printed with 17 digits, so that reading
// the text back gives the same bits.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/kernels/harness/bench.h"
#include "agent/kernels/heat/heat2d_checkpoint.h"
#include "agent/kernels/heat/stencil.h"
#include "agent/kernels/mpi/ranks.h"

namespace muster::kernels {

struct HeatOptions {
  BenchOptions bench;
  int64_t nx = 0;  // 0: not given
  int64_t ny = 0;
  int64_t steps = 100;
  double alpha = 0.25;
  CheckpointOptions checkpoint;
  std::string timeline;

  Plate plate() const { return {nx, ny, alpha, static_cast<uint64_t>(bench.seed)}; }
};

// What the run gave. `verified` and `max_error` are known on rank 0 after --verify.
struct HeatReport {
  std::vector<double> seconds;
  std::vector<double> wait_seconds;
  double copy_bytes_per_s = 0;  // of the plate, by all ranks at once: the roof
  double residual = 0;
  int64_t first_step = 0;  // that a checkpoint brought back; 0: none
  bool again = false;      // it ended early, to be run again
  CheckpointCosts checkpoints;
  bool repeatable = true;  // every repeat gave the same residual
  bool checked = false;
  bool verified = false;
  double max_error = 0;
  std::vector<nlohmann::ordered_json> map;  // rank 0: one entry per rank

  bool ok() const { return repeatable && (!checked || verified); }
};

// Print the report to the standard output. REQUIRES: rank 0, and at least one measured repeat.
void PrintHeatJson(const HeatOptions& options, const Ranks& ranks, const HeatReport& report);
void PrintHeatText(const HeatOptions& options, const Ranks& ranks, const HeatReport& report);

}  // namespace muster::kernels
