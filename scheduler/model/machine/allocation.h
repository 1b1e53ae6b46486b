#pragma once

// Who got what: a job's nodes, and on each its hardware threads, memory nodes, GPUs and the place
// of each rank.
//
// Invariants: (1) `nodes` has each node once, that of rank 0 first; (2) a rank's cpus, mem_nodes
// and gpus are subsets of its node's; (3) ranks are numbered 0..n-1 over the allocation, ascending
// on each node.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/gres.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/index_set.h"
#include "scheduler/model/value/units.h"

namespace muster {

struct GpuGrant {
  std::uint32_t gpu = 0;  // position in Machine::gpus
  GpuShare share = kWholeGpu;
  static constexpr auto Fields(auto list) {
    return list(Field{"gpu", &GpuGrant::gpu}, Field{"share", &GpuGrant::share});
  }
  friend bool operator==(const GpuGrant&, const GpuGrant&) = default;
};

struct RankPlacement {
  std::uint32_t rank = 0;
  CpuSet cpus;
  NumaSet mem_nodes;
  std::vector<std::uint32_t> gpus;  // positions in Machine::gpus, nearest first
  std::uint32_t nic = 0;            // which of Machine::nics, counted from 1; 0: none
  bool sees_own_gpus = false;       // those in `gpus` and no others; else all of the job's here
  static constexpr auto Fields(auto list) {
    return list(Field{"rank", &RankPlacement::rank}, Field{"cpus", &RankPlacement::cpus},
                Field{"mem_nodes", &RankPlacement::mem_nodes}, Field{"gpus", &RankPlacement::gpus},
                Field{"nic", &RankPlacement::nic},
                Field{"sees_own_gpus", &RankPlacement::sees_own_gpus});
  }
  friend bool operator==(const RankPlacement&, const RankPlacement&) = default;
};

struct NodeAllocation {
  NodeId node;
  std::string name;
  CpuSet cpus;  // whole cores
  NumaSet mem_nodes;
  Bytes memory;
  std::vector<GpuGrant> gpus;
  std::vector<RankPlacement> ranks;
  GresList gres = {};
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &NodeAllocation::node}, Field{"name", &NodeAllocation::name},
                Field{"cpus", &NodeAllocation::cpus},
                Field{"mem_nodes", &NodeAllocation::mem_nodes},
                Field{"memory", &NodeAllocation::memory}, Field{"gpus", &NodeAllocation::gpus},
                Field{"ranks", &NodeAllocation::ranks}, Field{"gres", &NodeAllocation::gres});
  }
  friend bool operator==(const NodeAllocation&, const NodeAllocation&) = default;
};

struct Allocation {
  std::vector<NodeAllocation> nodes;
  std::vector<std::uint32_t> grid = {};  // on which the ranks are numbered; empty: on none
  static constexpr auto Fields(auto list) {
    return list(Field{"nodes", &Allocation::nodes}, Field{"grid", &Allocation::grid});
  }
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

enum class BindingVerdict : std::uint8_t {
  kUnread = 0,       // not read back (yet)
  kVerified = 1,     // what was read is what was planned
  kDiffers = 2,      // it is not: see the text
  kNotEnforced = 3,  // the agent plays a machine that it is not
  kUnreadable = 4,   // the process ended before it could be read, or the kernel does not say
};

// What the supervisor read back of one rank after it was launched.
struct RankBinding {
  StepId step;  // 0 for the batch script
  std::uint32_t rank = 0;
  std::uint32_t pid = 0;
  CpuSet cpus;                    // as the kernel says
  std::string mem_policy;         // as the kernel says: "bind:0", "default"
  std::vector<std::string> gpus;  // UUIDs that the rank can see
  BindingVerdict verdict = BindingVerdict::kUnread;
  std::string text;  // what differs, or why it could not be read
  static constexpr auto Fields(auto list) {
    return list(Field{"step", &RankBinding::step}, Field{"rank", &RankBinding::rank},
                Field{"pid", &RankBinding::pid}, Field{"cpus", &RankBinding::cpus},
                Field{"mem_policy", &RankBinding::mem_policy}, Field{"gpus", &RankBinding::gpus},
                Field{"verdict", &RankBinding::verdict}, Field{"text", &RankBinding::text});
  }
  friend bool operator==(const RankBinding&, const RankBinding&) = default;
};

}  // namespace muster
