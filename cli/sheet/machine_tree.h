#pragma once

// A node as a tree, and who holds what of it: what topo prints.
//
// Package, NUMA node with its memory, die where a package has several, L3 cache, cores with their
// threads; GPUs and NICs under the NUMA node that they are near. Pure. Invariants: every core, GPU
// and NIC of the machine is on exactly one line; cores that one holder has stand in one line once a
// machine has more than kFoldAbove.

#include <cstddef>
#include <string>

#include "cli/page/style.h"
#include "cli/page/tree.h"
#include "scheduler/model/machine/device_link.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

inline constexpr std::size_t kFoldAbove = 16;

// nvidia-smi's word for a link: "NV18", "PIX".
std::string LinkText(const DeviceLink& link);

// `node` carries its machine.
Tree MachineTree(const NodeView& node, const Style& style);

}  // namespace muster::cli
