#pragma once

// The single-precision matrix product of one node: blocks sized for the caches, packed into panels,
// multiplied by the register tile of micro_kernel.
//
// Thread promise: one caller at a time; opens its own OpenMP team, whose threads share the packed B
// and take blocks of rows of A as they come. Invariant: each element of C is accumulated in the
// order of the depth by one thread at a time, so that the result does not depend on the team.

#include <cstdint>

namespace muster::kernels {

// How much of each factor is packed at a time: rows of A (a multiple of the tile's), the depth of
// both, columns of B. 0: as the caches and the team want it.
struct Blocking {
  int64_t rows = 0;
  int64_t depth = 0;
  int64_t columns = 0;
};

// Whether a product can be made with these sizes, zeros included.
bool IsBlocking(const Blocking& blocking);

// What zeros mean for a product of that many rows by that many threads.
Blocking BlockingFor(int64_t rows, int64_t threads);

// a is rows x depth, b depth x columns, c rows x columns.
struct ProductShape {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
};

// c = a * b, row-major and dense. Reads no element of c. False when the memory for the panels is
// refused; c is then untouched.
bool MatrixProduct(const ProductShape& shape, const float* a, const float* b, float* c,
                   const Blocking& blocking = {});

// Bytes of the panels that MatrixProduct takes and keeps for the next one, with `threads` threads
// and the largest blocks by rule.
int64_t PanelBytes(int64_t threads);

// The bound on one element's error: (depth + 1) * epsilon * the sum of |a||b| (Higham 2002, section
// 3.5), where that sum is at most depth * largest_a * largest_b.
double ProductTolerance(int64_t depth, double largest_a, double largest_b);

}  // namespace muster::kernels
