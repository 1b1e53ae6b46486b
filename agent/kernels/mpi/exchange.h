#pragma once

// The frame of kernels in which every rank gives parts of n doubles and gets one of every rank.
//
// Thread promise: as RunMpiKernel's. Invariants: every element that arrives is compared with what
// its sender had, for each method and for several n.

#include <cstdint>
#include <vector>

#include "agent/kernels/mpi/world.h"

namespace muster::kernels {

struct ExchangeMethod {
  const char* name;
  void (*exchange)(const World& world, const double* in, double* out, int64_t n);
};

struct Exchange {
  std::vector<ExchangeMethod> methods;
  bool to_each = false;  // a rank gives each another part, not the same to all
  double (*input)(int64_t from, int64_t to, int64_t i) = nullptr;  // `to`: 0 unless to_each
};

// Says what the kernel prepares and verifies.
void UseExchange(const Exchange& exchange, MpiKernel* kernel);

}  // namespace muster::kernels
