#pragma once

// What the program `gpu` can time: each family adds its operations and checks its arithmetic on
// other sizes.
//
// Thread promise: one thread. Invariant: operations keep what they need alive; results are poisoned
// before the first run, so that a check sees what the last run wrote.

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/kernels/harness/kernel.h"

namespace muster::kernels {

struct GpuOptions {
  int64_t n = 0;        // elements of a vector
  int64_t side = 0;     // of the matrices
  int64_t columns = 0;  // of the rows that are normalised
  int64_t device = 0;
  uint64_t seed = 0;
  double tune = 0;       // seconds of a search for the fastest tile; 0: none
  bool by_rule = false;  // whatever was found for these matrices
  // What the families tell beside their figures.
  std::shared_ptr<nlohmann::ordered_json> facts =
      std::make_shared<nlohmann::ordered_json>(nlohmann::ordered_json::object());
};

using Operations = std::vector<Operation>;

struct Family {
  const char* name;
  const char* meaning;
  void (*add)(const GpuOptions&, Operations*);
  void (*verify)(uint64_t seed, Check*);  // null: nothing but the check of the runs
};

// copy, vector-add, saxpy, triad; the first is the library's own device-to-device copy.
void AddVectorOperations(const GpuOptions& options, Operations* operations);
void VerifyVectors(uint64_t seed, Check* check);

// sum and sum-squares.
void AddReductions(const GpuOptions& options, Operations* operations);
void VerifyReductions(uint64_t seed, Check* check);

// gemm-tiled, by the tile that was searched, found before or is the rule, and gemm-library where a
// BLAS is found.
void AddMatrixProducts(const GpuOptions& options, Operations* operations);
void VerifyMatrixProducts(uint64_t seed, Check* check);

// norm-gelu-fused and norm-gelu-separate.
void AddNormGelu(const GpuOptions& options, Operations* operations);
void VerifyNormGelu(uint64_t seed, Check* check);

// Pinned and pageable copies each way, both ways at once, and to every peer.
void AddTransfers(const GpuOptions& options, Operations* operations);

// A chain of empty kernels by launches and by one graph.
void AddLaunches(const GpuOptions& options, Operations* operations);

// The all-reduce of NCCL or RCCL over all GPUs, where it is found and there are two at least.
void AddAllReduce(const GpuOptions& options, Operations* operations);

// Single-precision peak of the arithmetic (fused multiply-adds in registers), and the bandwidth of
// the best of the runtime's device-to-device copy and our own reading.
Peaks MeasureGpuPeaks();

}  // namespace muster::kernels
