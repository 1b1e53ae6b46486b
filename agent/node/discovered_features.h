#pragma once

// Features that a node finds in itself, beside those that its configuration names.
//
// x86-64-v2, -v3, -v4 (the levels of the x86-64 psABI that its processors have), of Arm's lse,
// dotprod, i8mm, bf16, sve, sve2, sme (as compilers name them) and sve-256 (the bits of its
// vectors), nvlink, rdma (a
// network device that programs can use without the kernel), gpu-aware-mpi (its Open MPI takes
// addresses of GPU memory), criu (CRIU saves and restores processes there), containers (jobs can
// run in containers there), containers-amd64, -arm64, … (of images for that machine) and staging
// (copies of data are made and kept there). Invariants: a node that plays another machine finds
// none but the last three; each name can stand in
// --constraint.

#include <string>
#include <vector>

#include "scheduler/model/machine/machine.h"

namespace muster::agent {

struct ProcessorFlags {
  bool v2 = false;
  bool v3 = false;
  bool v4 = false;
  std::vector<std::string> arm = {};
};

ProcessorFlags FlagsOfThisProcessor();
// By the kernel's AT_HWCAP and AT_HWCAP2 of arm64, and the length of SVE's vectors, 0 without.
std::vector<std::string> ArmFeatures(unsigned long hwcap, unsigned long hwcap2, int vector_bits);
// Whether the Open MPI that programs here find says that it was built for GPU memory. `library`:
// its base library, "" for where it is usually.
bool HasGpuAwareMpi(const std::string& library);

// What was found out about programs of the node.
struct FoundPrograms {
  bool gpu_aware_mpi = false;
  bool criu = false;
  bool containers = false;
  std::string machine = {};  // of what images are for that containers here run: "amd64"
  bool staging = false;
};

std::vector<std::string> DiscoveredFeatures(const Machine& machine, const ProcessorFlags& flags,
                                            const FoundPrograms& programs);
// Those of `configured` and then those of `discovered` that it lacks.
std::vector<std::string> AllFeatures(std::vector<std::string> configured,
                                     const std::vector<std::string>& discovered);

}  // namespace muster::agent
