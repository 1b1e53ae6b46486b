#pragma once

// A machine as a picture: packages, NUMA nodes, L3 groups and cores, NICs and GPUs, NVLinks
// coloured by their width, and who has what.
//
// NUMA nodes stand side by side, their GPUs in one line at the bottom, with an arc below for every
// NVLink; where every two GPUs have the same one, a bar for all. PCIe is not drawn. Pure.
// Invariants: every core, GPU and NIC of the machine is one box, whose title begins with "core N",
// "GPU N" or "NIC NAME".

#include <cstdint>
#include <string>
#include <vector>

#include "cli/picture/svg.h"
#include "scheduler/model/machine/machine.h"

namespace muster::cli {

// A job, or a rank of one.
struct SvgOwner {
  std::string name;  // "job 7", "rank 3"
  CpuSet cpus;
  std::vector<std::uint32_t> gpus;  // positions in Machine::gpus
  std::vector<std::uint32_t> nics;  // positions in Machine::nics
  std::size_t colour = 0;           // of OwnerColour
};

// Draws the machine below `top`; where its picture ends.
double DrawMachine(const std::string& name, const Machine& machine,
                   const std::vector<SvgOwner>& owners, double top, Svg& svg);

}  // namespace muster::cli
