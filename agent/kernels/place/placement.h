#pragma once

// Where the threads of a kernel run: the CPU and NUMA node of the calling thread, and the CPUs that
// the process's OpenMP team may use.
//
// Thread promise: all functions are safe from any thread; AllowedCpus opens a parallel region of
// its own.

#include <set>
#include <string>

namespace muster::kernels {

// The CPU a thread was seen on and that CPU's NUMA node.
struct Place {
  int cpu = 0;
  int node = 0;
};

// Where the calling thread is now. {0, 0} on a kernel that cannot tell.
Place CurrentPlace();

// The affinity mask of the calling thread.
std::set<int> OwnCpus();

// The union of the affinity masks of the OpenMP team: the CPUs this process can compute on.
std::set<int> AllowedCpus();

// "0-3,8" for {0, 1, 2, 3, 8}; "" for none.
std::string CpuListText(const std::set<int>& cpus);

}  // namespace muster::kernels
