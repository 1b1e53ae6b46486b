#pragma once

// The loops over long vectors, in the widest SIMD that the processor has: chosen when the program
// runs, so that one binary serves all processors.
//
// Thread promise: pure but for their output; callers cut the index space. Arrays do not overlap.
// Invariants: sums and products are rounded one by one (no fused multiply-add), so every processor
// gives the same bits; a sum's order depends on the processor's vectors, its error bound does not.

#include <cstdint>

namespace muster::kernels {

// Streaming stores go past the caches: a line that is written whole is not read first. They pay
// when the output does not fit in the caches. They need `out` aligned to kAlignment; elsewhere they
// are ordinary ones.
enum class Stores { kOrdinary, kStreaming };

// out = in
void CopyLoop(const double* in, double* out, int64_t n, Stores stores);
// out = s * in
void ScaleLoop(double s, const double* in, double* out, int64_t n, Stores stores);
// out = left + right
void AddLoop(const double* left, const double* right, double* out, int64_t n, Stores stores);
void AddLoop(const float* left, const float* right, float* out, int64_t n, Stores stores);
// out = left + s * right
void TriadLoop(const double* left, double s, const double* right, double* out, int64_t n,
               Stores stores);
// y = y + a * x
void AxpyLoop(float a, const float* x, float* y, int64_t n);
void AxpyLoop(double a, const double* x, double* y, int64_t n);

// Elements in the longest sum that one accumulation makes: its error is below
// (kChunkElements + 8) * epsilon of the type * the sum of the magnitudes (Higham, Accuracy and
// Stability of Numerical Algorithms, 2002, section 4.2: any order of n additions stays below
// (n - 1) epsilon to first order).
constexpr int64_t kChunkElements = 2048;

// The sum of in[0..n), and of the squares. REQUIRES: 0 <= n <= kChunkElements.
double SumChunk(const float* in, int64_t n);
double SumChunk(const double* in, int64_t n);
double SumSquaresChunk(const float* in, int64_t n);
double SumSquaresChunk(const double* in, int64_t n);

// `rounds` times 12 independent chains of fused multiply-adds on single-precision vectors: what the
// processor's arithmetic can do at most. Returns the floating-point operations done; `sink` keeps
// the result alive.
double FmaLoop(int64_t rounds, float* sink);

// The SIMD that this processor gets: "AVX2" and the like.
const char* SimdName();

}  // namespace muster::kernels
