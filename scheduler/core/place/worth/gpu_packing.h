#pragma once

// What a place for a job costs the GPUs that stay: how much of them the jobs that the cluster
// really sees can still use.
//
// After Weng, Yang, Yu, Wang, Tang, Yang and Zhang, "Beware of Fragmentation: Scheduling
// GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC 2023: a node's
// fragmentation is, over the classes of jobs by how frequent they are, the idle GPU that such a job
// cannot use. Where their rule takes the least growth alone, rounded to a hundredth of a sigmoid,
// ours also counts what would stay of the node, so that of places that fragment alike the fuller
// one is taken, and the GPUs that would stay idle for want of cores once more jobs of the mix have
// come: one job's question does not see that. Integers only. Invariants: the same node, mix and job
// give the same cost; a lower cost is better; ties are the caller's.

#include <cstdint>
#include <vector>

namespace muster::core {

// A node's free amounts, as the mix sees them.
struct PackingRoom {
  std::uint32_t cpu_milli = 0;
  std::vector<std::uint32_t> gpus;  // thousandths that are free, by GPU
  std::uint32_t model = 0;          // the caller's number of the GPU model, below 64
};

// Jobs that ask for the same: whole GPUs, or a part of one.
struct PackingClass {
  std::uint32_t cpu_milli = 0;
  std::uint32_t gpus = 0;
  std::uint32_t gpu_milli = 0;   // of each
  std::uint64_t models = ~0ULL;  // those that will do, a bit each
  std::uint64_t count = 0;       // how often it is seen
};

// The jobs that the cluster sees. What is asked of all of them is summed once.
class PackingMix {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a mix is its classes
  PackingMix(std::vector<PackingClass> classes);

  [[nodiscard]] auto begin() const { return classes_.begin(); }
  [[nodiscard]] auto end() const { return classes_.end(); }
  [[nodiscard]] std::int64_t jobs() const { return jobs_; }
  // Of those with GPUs, what one asks for on average; 0 without such jobs, or where they ask for no
  // cores.
  [[nodiscard]] std::int64_t cpu_milli() const { return cpu_milli_; }
  [[nodiscard]] std::int64_t gpu_milli() const { return gpu_milli_; }

 private:
  std::vector<PackingClass> classes_;
  std::int64_t jobs_ = 0;
  std::int64_t cpu_milli_ = 0;
  std::int64_t gpu_milli_ = 0;
};

// Whether the room takes one of the class; memory is the caller's question.
bool Holds(const PackingRoom& room, const PackingClass& job);

// What stays when one is placed: on the first free GPUs, or on `gpu` when it asks for a part.
// REQUIRES: it holds it there.
PackingRoom Without(PackingRoom room, const PackingClass& job, std::size_t gpu);

// Thousandths of idle GPUs that a job of the mix cannot use, summed over the jobs counted.
std::uint64_t Fragmentation(const PackingRoom& room, const PackingMix& mix);

// What one of the job on that GPU costs; of a job of whole GPUs, on the first free ones.
std::int64_t CostOn(const PackingRoom& room, const PackingClass& job, const PackingMix& mix,
                    std::size_t gpu);

struct PackingChoice {
  std::int64_t cost = 0;
  std::size_t gpu = 0;  // of a job that asks for a part of one
};

// The cheapest GPU of the room for the job, the lowest of equals. REQUIRES: it holds the job.
PackingChoice CheapestGpu(const PackingRoom& room, const PackingClass& job, const PackingMix& mix);

}  // namespace muster::core
