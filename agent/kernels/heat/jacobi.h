#pragma once

// The distributed solution: each rank steps its tile while the halos are on their way.
//
// A step: start the eight non-blocking transfers of the edge rows and columns, update the cells
// that need no halo, wait, update the outer ring. The residual is an exact sum over all ranks
// (exact_sum.h), so it has the same bits for every number of ranks and threads. Thread promise: MPI
// is called by the calling thread only (MPI_THREAD_FUNNELED); updates use an OpenMP team.
// Invariant: tiles keep their halo ring current only while a step runs.

#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "agent/kernels/harness/phase_marker.h"
#include "agent/kernels/heat/stencil.h"
#include "agent/kernels/mpi/ranks.h"

namespace muster::kernels {

// Exchanges the halo ring of tiles of one shape with the four neighbours.
class HaloExchange {
 public:
  HaloExchange(const Ranks& ranks, const Tile& shape);
  ~HaloExchange();
  HaloExchange(const HaloExchange&) = delete;
  HaloExchange& operator=(const HaloExchange&) = delete;

  // Starts all transfers: the tile's cells may be read but its halo not until Finish returns.
  void Start(Tile* tile);
  void Finish();

 private:
  const Ranks& ranks_;
  MPI_Datatype row_ = MPI_DATATYPE_NULL;
  MPI_Datatype column_ = MPI_DATATYPE_NULL;
  std::array<MPI_Request, 8> requests_;
};

// Told after each step but the last, on every rank alike; false ends the run there.
using AfterStep = std::function<bool(int64_t step)>;

// One whole solution, the same on every rank. Times in seconds, the longest of all ranks.
struct RunResult {
  bool ended_early = false;
  int64_t step = 0;  // the last one made
  double seconds = 0;
  double wait_seconds = 0;  // of these, waiting for halos
  double residual = 0;      // L2 norm of the last update
};

class Jacobi {
 public:
  // Takes two tiles for this rank's cells. `ranks` and `marker`, which records the phases of a
  // step, must outlive it; check allocated() before Run.
  Jacobi(const Plate& plate, const Ranks& ranks, PhaseMarker* marker);

  // Bytes that this rank's two tiles take.
  static int64_t BytesOf(const TileRange& tile);

  bool allocated() const { return now_.allocated() && next_.allocated(); }

  // Collective. From the initial values through `steps` >= 1 steps.
  RunResult Run(int64_t steps);

  // Run in its parts: the initial values; a rank's own cells, row after row; the steps after number
  // `from` through `steps` > from.
  void Begin();
  void SetCells(const std::vector<double>& cells);
  void CopyCells(std::vector<double>* cells) const;
  RunResult Continue(int64_t from, int64_t steps, const AfterStep& after);

  // Collective. Bytes a second, read and written, that all ranks' threads reach when they copy
  // their tiles at once. Done last: it leaves no earlier step to compare with.
  double MeasureCopy();

  // Collective. The whole field, row after row, on rank 0; nothing elsewhere.
  std::vector<double> GatherField() const;

 private:
  double ReduceResidual() const;

  Plate plate_;
  const Ranks& ranks_;
  PhaseMarker* marker_;
  Tile now_;
  Tile next_;
};

}  // namespace muster::kernels
