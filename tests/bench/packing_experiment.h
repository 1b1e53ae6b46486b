#pragma once

// How much of a GPU cluster a policy can give away before fragments stop it: the inflation
// experiment of Weng et al., "Beware of Fragmentation", USENIX ATC 2023.
//
// Pods only arrive. The trace's are shuffled and come first, then clones of pods drawn at random
// until the next would exceed 130 % of the cluster's GPUs. One that fits nowhere is dropped and
// counts as arrived. Every node is scored, ties go to the smallest name; whole GPUs are the free
// ones of lowest index. Invariants: (1) no GPU, core or byte is given twice; (2) the same cluster,
// pods, policy and seed give the same result on every machine.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/core/place/worth/gpu_packing.h"

namespace muster::bench {

struct PackingNode {
  std::string name;
  core::PackingRoom room;
  std::uint64_t memory_mib = 0;
};

struct PackingPod {
  core::PackingClass job;  // its count is not looked at
  std::uint64_t memory_mib = 0;
};

struct PackingCluster {
  std::vector<PackingNode> nodes;  // sorted by name
  std::vector<PackingPod> pods;    // in the order of the trace
};

enum class PackingPolicy : std::uint8_t {
  kRandom,   // a node with room, and a GPU of it, at random
  kBestFit,  // int(100 (1 - cpu left / 256000 - gpu left / 16000)), scaled to 0..100 over the nodes
  kFgd,      // Weng et al.: int(100 sigmoid(fragmentation that goes away / 1000))
  kMuster,   // core/place/worth/gpu_packing
};

// "random", "bestfit", "fgd", "muster"; nothing for another word.
std::optional<PackingPolicy> PackingPolicyOf(const std::string& name);

// The most frequent classes until they are at least 95 % of the pods, those of a tie by size.
core::PackingMix TypicalMix(const std::vector<PackingPod>& pods);

// By arrived load in per cent of all GPUs (rounded): the share of the GPUs that is allocated, in
// per cent, the mean over the arrivals at that load.
std::map<std::uint32_t, double> AllocatedByLoad(const PackingCluster& cluster, PackingPolicy policy,
                                                std::uint64_t seed);

}  // namespace muster::bench
