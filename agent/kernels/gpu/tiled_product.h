#pragma once

// The matrix product C = A B by tiles in shared memory, in several shapes of tile.
//
// A block of threads makes a tile of C, each thread some rows and columns of it, from slices of A
// and B; two slices of each lie in shared memory, so that one is filled while the other is used.
// Which shape is fastest depends on the device and on the matrices' side. Thread promise: as the
// runtime's. Invariant: every shape gives the same sums in the same order of the depth.

#include <cstdint>
#include <span>

#include "agent/kernels/gpu/portability.h"

namespace muster::kernels {

// How a tile is cut. A thread owns own_rows x own_columns of the tile's elements.
struct TileShape {
  int rows = 0;
  int columns = 0;
  int depth = 0;
  int own_rows = 0;
  int own_columns = 0;

  bool operator==(const TileShape&) const = default;
};

// Row-major, n x n.
struct TiledProblem {
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  int n = 0;
};

// All shapes, those by rule first.
std::span<const TileShape> TileShapes();

// The index of the one by rule: the largest of the first whose tiles give work to all of the
// device's multiprocessors, or nearly.
size_t ShapeByRule(int n, int multiprocessors);

// Starts the product by the shape of that index.
void LaunchTiledProduct(size_t shape, const TiledProblem& problem, GPU(Stream_t) stream);

}  // namespace muster::kernels
