#pragma once

// Latency of memory by following pointers: each load's address is the last load's result, so that
// nothing overlaps. One node of the chain fills a cache line, and the order is one random cycle.
//
// Thread promise: one caller at a time; a ScopedBinding binds the calling thread and gives
// its CPUs back. Invariant: the chain visits every line exactly once before it returns to its
// first.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/kernels/place/memory.h"

namespace muster::kernels {

// A NUMA node with what this process may use of it.
struct NumaNode {
  int id = 0;
  std::vector<int> cpus;  // may be empty: memory without processors
  bool has_memory = true;
};

// The nodes that /sys tells, with the CPUs that this thread may use; one node 0 with all of them
// where the system tells none. `root` is put before /sys.
std::vector<NumaNode> NumaNodes(const std::string& root = "");

// A line of the chain.
struct alignas(64) ChainLine {
  ChainLine* next;
};

class Chain {
 public:
  // `lines` >= 1 lines in memory of NUMA node `node` (asked for by mbind; where the system refuses,
  // wherever it gives them: see placed()).
  Chain(int64_t lines, int node, uint64_t seed);

  bool allocated() const { return lines_.data() != nullptr; }
  // Whether the system took the wish for the node.
  bool placed() const { return placed_; }
  // Whether one walk visits every line once.
  bool IsOneCycle() const;

  // Follows `steps` pointers; the seconds for all.
  double Walk(int64_t steps);

 private:
  Aligned<ChainLine> lines_;
  ChainLine* at_ = nullptr;
  bool placed_ = false;
};

// Binds the calling thread to `cpus` until it is destroyed; no CPUs: binds nothing.
class ScopedBinding {
 public:
  explicit ScopedBinding(const std::vector<int>& cpus);
  ~ScopedBinding();
  ScopedBinding(const ScopedBinding&) = delete;
  ScopedBinding& operator=(const ScopedBinding&) = delete;

 private:
  std::vector<int> before_;
};

}  // namespace muster::kernels
