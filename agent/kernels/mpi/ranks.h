#pragma once

// The ranks of a run on a Cartesian communicator: their numbers, the tile that each owns, and its
// neighbours.
//
// Thread promise: the thread that initialised MPI. Invariant: the object is freed before
// MPI_Finalize; ranks are not reordered, so a rank here is the rank the launcher placed.

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "agent/kernels/mpi/grid.h"

namespace muster::kernels {

class Ranks {
 public:
  // Collective over `parent`. Null (on every rank) when no process grid gives each rank a cell.
  static std::unique_ptr<Ranks> Make(MPI_Comm parent, int64_t nx, int64_t ny);

  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  ProcessGrid grid() const { return grid_; }
  // Position of this rank in the process grid.
  int row() const { return row_; }
  int col() const { return col_; }
  const TileRange& tile() const { return tile_; }
  // The cells of another rank.
  TileRange TileOfRank(int rank) const;

  // Ranks of the neighbours, MPI_PROC_NULL at an edge of the plate.
  int north() const { return north_; }
  int south() const { return south_; }
  int west() const { return west_; }
  int east() const { return east_; }

  // Collective. The text of every rank in rank order on rank 0, nothing elsewhere.
  std::vector<std::string> Gather(const std::string& text) const;

  // Collective. The largest value of all ranks.
  double Max(double value) const;

 private:
  Ranks(MPI_Comm comm, ProcessGrid grid, int64_t nx, int64_t ny);

  MPI_Comm comm_;
  ProcessGrid grid_;
  int64_t nx_;
  int64_t ny_;
  int rank_ = 0;
  int size_ = 1;
  int row_ = 0;
  int col_ = 0;
  int north_ = MPI_PROC_NULL;
  int south_ = MPI_PROC_NULL;
  int west_ = MPI_PROC_NULL;
  int east_ = MPI_PROC_NULL;
  TileRange tile_;
};

}  // namespace muster::kernels
