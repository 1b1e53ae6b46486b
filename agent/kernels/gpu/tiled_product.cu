#include <array>

#include "agent/kernels/gpu/device.h"
#include "agent/kernels/gpu/tiled_product.h"

namespace muster::kernels {
namespace {

// A tile as the compiler knows it. Blocks: how many of a multiprocessor are meant to run at once.
template <int R, int C, int D, int OwnR, int OwnC, int Blocks>
struct Tile {
  static constexpr TileShape kShape = {R, C, D, OwnR, OwnC};
  static constexpr int kRows = R;
  static constexpr int kColumns = C;
  static constexpr int kDepth = D;
  static constexpr int kOwnRows = OwnR;
  static constexpr int kOwnColumns = OwnC;
  static constexpr int kBlocks = Blocks;
  static constexpr int kAcross = C / OwnC;  // threads beside one another
  static constexpr int kThreads = R / OwnR * kAcross;
  static constexpr int kPadded = R + 4;  // keeps 16-byte alignment, moves columns to other banks
  // Rows and columns of a thread come in groups of four, so far apart that the 16-byte reads of a
  // warp meet no bank twice.
  static constexpr int kRowStep = 4 * R / OwnR;
  static constexpr int kColumnStep = 4 * C / OwnC;
  static constexpr int kFoursOfA = R * D / 4 / kThreads;  // that a thread carries
  static constexpr int kFoursOfB = C * D / 4 / kThreads;

  static_assert(kFoursOfA * kThreads * 4 == R * D && kFoursOfB * kThreads * 4 == C * D);
  static_assert(OwnR % 4 == 0 && OwnC % 4 == 0 && D % 4 == 0);

  struct Slices {
    float a[2][D][kPadded];  // transposed: [k][row]
    float b[2][D][C];
  };
  static_assert(sizeof(Slices) <= 48 << 10);

  // What one thread carries from device to shared memory.
  struct Carried {
    float4 a[kFoursOfA];
    float4 b[kFoursOfB];
  };
};

__device__ float ElementOr0(const float* data, int row, int column, int n) {
  return row < n && column < n ? data[static_cast<int64_t>(row) * n + column] : 0.0F;
}

// Four elements of a row; zeros outside the matrix.
__device__ float4 FourOf(const float* data, int row, int column, int n) {
  if (n % 4 == 0 && row < n && column + 4 <= n) {
    return *reinterpret_cast<const float4*>(data + static_cast<int64_t>(row) * n + column);
  }
  return make_float4(ElementOr0(data, row, column, n), ElementOr0(data, row, column + 1, n),
                     ElementOr0(data, row, column + 2, n), ElementOr0(data, row, column + 3, n));
}

template <class T>
__device__ void Fetch(const TiledProblem& p, int row0, int column0, int k0,
                      typename T::Carried* carried) {
  constexpr int kOfRow = T::kDepth / 4;
  constexpr int kOfDepth = T::kColumns / 4;
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int part = 0; part < T::kFoursOfA; ++part) {
    const int at = thread + part * T::kThreads;
    carried->a[part] = FourOf(p.a, row0 + at / kOfRow, k0 + at % kOfRow * 4, p.n);
  }
#pragma unroll
  for (int part = 0; part < T::kFoursOfB; ++part) {
    const int at = thread + part * T::kThreads;
    carried->b[part] = FourOf(p.b, k0 + at / kOfDepth, column0 + at % kOfDepth * 4, p.n);
  }
}

template <class T>
__device__ void Put(const typename T::Carried& carried, int slice, typename T::Slices* slices) {
  constexpr int kOfRow = T::kDepth / 4;
  constexpr int kOfDepth = T::kColumns / 4;
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int part = 0; part < T::kFoursOfA; ++part) {
    const int at = thread + part * T::kThreads;
    const int k = at % kOfRow * 4;
    const int row = at / kOfRow;
    slices->a[slice][k][row] = carried.a[part].x;
    slices->a[slice][k + 1][row] = carried.a[part].y;
    slices->a[slice][k + 2][row] = carried.a[part].z;
    slices->a[slice][k + 3][row] = carried.a[part].w;
  }
#pragma unroll
  for (int part = 0; part < T::kFoursOfB; ++part) {
    const int at = thread + part * T::kThreads;
    *reinterpret_cast<float4*>(&slices->b[slice][at / kOfDepth][at % kOfDepth * 4]) =
        carried.b[part];
  }
}

template <class T>
__device__ void MultiplySlice(const typename T::Slices& slices, int slice,
                              float (&sum)[T::kOwnRows][T::kOwnColumns]) {
  const int row = static_cast<int>(threadIdx.x) / T::kAcross * 4;
  const int column = static_cast<int>(threadIdx.x) % T::kAcross * 4;
#pragma unroll
  for (int k = 0; k < T::kDepth; ++k) {
    float a[T::kOwnRows];
    float b[T::kOwnColumns];
#pragma unroll
    for (int i = 0; i < T::kOwnRows / 4; ++i) {
      *reinterpret_cast<float4*>(a + 4 * i) =
          *reinterpret_cast<const float4*>(&slices.a[slice][k][row + i * T::kRowStep]);
    }
#pragma unroll
    for (int j = 0; j < T::kOwnColumns / 4; ++j) {
      *reinterpret_cast<float4*>(b + 4 * j) =
          *reinterpret_cast<const float4*>(&slices.b[slice][k][column + j * T::kColumnStep]);
    }
#pragma unroll
    for (int i = 0; i < T::kOwnRows; ++i) {
#pragma unroll
      for (int j = 0; j < T::kOwnColumns; ++j) {
        sum[i][j] += a[i] * b[j];
      }
    }
  }
}

template <class T>
__device__ void Write(const TiledProblem& p, int row0, int column0,
                      const float (&sum)[T::kOwnRows][T::kOwnColumns]) {
  const int thread_row = static_cast<int>(threadIdx.x) / T::kAcross * 4;
  const int thread_column = static_cast<int>(threadIdx.x) % T::kAcross * 4;
#pragma unroll
  for (int i = 0; i < T::kOwnRows; ++i) {
    const int row = row0 + thread_row + i % 4 + i / 4 * T::kRowStep;
#pragma unroll
    for (int part = 0; part < T::kOwnColumns / 4; ++part) {
      const int column = column0 + thread_column + part * T::kColumnStep;
      float* out = p.c + static_cast<int64_t>(row) * p.n + column;
      if (row < p.n && p.n % 4 == 0 && column + 4 <= p.n) {
        *reinterpret_cast<float4*>(out) = make_float4(sum[i][4 * part], sum[i][4 * part + 1],
                                                      sum[i][4 * part + 2], sum[i][4 * part + 3]);
      } else {
        for (int j = 0; row < p.n && j < 4 && column + j < p.n; ++j) {
          out[j] = sum[i][4 * part + j];
        }
      }
    }
  }
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocks) Multiply(TiledProblem p) {
  __shared__ typename T::Slices slices;
  const int row0 = static_cast<int>(blockIdx.y) * T::kRows;
  const int column0 = static_cast<int>(blockIdx.x) * T::kColumns;
  float sum[T::kOwnRows][T::kOwnColumns] = {};
  typename T::Carried carried;
  Fetch<T>(p, row0, column0, 0, &carried);
  Put<T>(carried, 0, &slices);
  __syncthreads();
  int slice = 0;
  for (int k = T::kDepth; k < p.n; k += T::kDepth) {
    Fetch<T>(p, row0, column0, k, &carried);
    MultiplySlice<T>(slices, slice, sum);
    Put<T>(carried, 1 - slice, &slices);  // nobody reads that one: all passed the barrier behind it
    __syncthreads();
    slice = 1 - slice;
  }
  MultiplySlice<T>(slices, slice, sum);
  Write<T>(p, row0, column0, sum);
}

template <class T>
void Launch(const TiledProblem& problem, GPU(Stream_t) stream) {
  const dim3 grid(BlocksFor(problem.n, T::kColumns), BlocksFor(problem.n, T::kRows));
  Multiply<T><<<grid, T::kThreads, 0, stream>>>(problem);
}

template <class... Tiles>
struct Table {
  static constexpr std::array<TileShape, sizeof...(Tiles)> kShapes = {Tiles::kShape...};
  static constexpr std::array<void (*)(const TiledProblem&, GPU(Stream_t)), sizeof...(Tiles)>
      kLaunches = {Launch<Tiles>...};
};

// Large tiles read less, small ones fill the device when the matrices are small. The first ones are
// the rule's, from large to small.
using Shapes =
    Table<Tile<128, 128, 8, 8, 8, 2>, Tile<64, 128, 16, 8, 8, 3>, Tile<32, 64, 32, 4, 4, 4>,
          Tile<128, 128, 16, 8, 8, 2>, Tile<128, 128, 16, 8, 16, 2>, Tile<128, 128, 8, 16, 8, 2>,
          Tile<256, 128, 8, 16, 8, 1>, Tile<128, 256, 8, 8, 16, 1>, Tile<128, 64, 16, 8, 8, 3>,
          Tile<64, 64, 16, 8, 4, 4>, Tile<64, 64, 32, 4, 4, 3>, Tile<32, 32, 32, 4, 4, 8>>;
constexpr size_t kShapesByRule = 3;
constexpr double kNearlyAll = 0.9;  // of the multiprocessors

}  // namespace

std::span<const TileShape> TileShapes() {
  return Shapes::kShapes;
}

size_t ShapeByRule(int n, int multiprocessors) {
  const auto tiles = [n](int side) { return static_cast<double>((n + side - 1) / side); };
  for (size_t i = 0; i + 1 < kShapesByRule; ++i) {
    const TileShape& shape = Shapes::kShapes[i];
    if (tiles(shape.rows) * tiles(shape.columns) >= kNearlyAll * multiprocessors) {
      return i;
    }
  }
  return kShapesByRule - 1;
}

void LaunchTiledProduct(size_t shape, const TiledProblem& problem, GPU(Stream_t) stream) {
  Shapes::kLaunches.at(shape)(problem, stream);
  MustLaunch("a matrix product");
}

}  // namespace muster::kernels
