#pragma once

// How NVIDIA's MIG can divide a GPU, and how one is to be divided.
//
// A GPU has memory slices, numbered from 0; an instance takes some of them in a row, and where it
// may begin depends on its profile. Invariants: (1) the instances of a layout overlap nowhere, and
// each lies where its profile may; (2) of one GPU a node has one layout at most; (3) while that is
// wanted or ordered, no job gets a part of the GPU.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

// Memory slices in a row.
struct MigPlacement {
  std::uint32_t start = 0;
  std::uint32_t size = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"start", &MigPlacement::start}, Field{"size", &MigPlacement::size});
  }
  friend bool operator==(const MigPlacement&, const MigPlacement&) = default;
};

// What an instance of a GPU can be.
struct MigProfile {
  std::string name;  // "1g.10gb"
  std::uint32_t id = 0;
  std::uint32_t slices = 0;     // of the GPU's multiprocessors
  std::uint32_t instances = 0;  // at most at once
  Bytes memory;
  std::vector<MigPlacement> placements;  // where one may lie
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &MigProfile::name}, Field{"id", &MigProfile::id},
                Field{"slices", &MigProfile::slices}, Field{"instances", &MigProfile::instances},
                Field{"memory", &MigProfile::memory}, Field{"placements", &MigProfile::placements});
  }
  friend bool operator==(const MigProfile&, const MigProfile&) = default;
};

// An instance that is to be made.
struct MigInstance {
  std::string profile;
  std::uint32_t id = 0;  // of the profile
  MigPlacement placement;
  static constexpr auto Fields(auto list) {
    return list(Field{"profile", &MigInstance::profile}, Field{"id", &MigInstance::id},
                Field{"placement", &MigInstance::placement});
  }
  friend bool operator==(const MigInstance&, const MigInstance&) = default;
};

enum class LayoutPhase : std::uint8_t {
  kWanted = 0,   // jobs use parts of the GPU still
  kOrdered = 1,  // its agent is to bring it about
  kMade = 2,     // the GPU is so, and stays so until the job has had its turn
  kFailed = 3,   // it could not be brought about: `text`
};

inline constexpr std::array<const char*, 4> kLayoutPhaseNames = {"wanted", "ordered", "made",
                                                                 "failed"};
constexpr const char* Name(LayoutPhase phase) {
  return kLayoutPhaseNames[static_cast<std::size_t>(phase)];
}

// How a GPU of a node is to be divided, and how far that is.
struct GpuLayout {
  std::string gpu;                     // the UUID of the whole GPU
  std::uint32_t os_index = 0;          // of it
  std::vector<MigInstance> instances;  // by where they lie; empty: it is to be whole
  LayoutPhase phase = LayoutPhase::kWanted;
  std::uint64_t number = 0;  // of the order; grows on each node
  JobId job;                 // for which
  Time since = kNoTime;      // of the phase
  std::string text;
  static constexpr auto Fields(auto list) {
    return list(Field{"gpu", &GpuLayout::gpu}, Field{"os_index", &GpuLayout::os_index},
                Field{"instances", &GpuLayout::instances}, Field{"phase", &GpuLayout::phase},
                Field{"number", &GpuLayout::number}, Field{"job", &GpuLayout::job},
                Field{"since", &GpuLayout::since}, Field{"text", &GpuLayout::text});
  }
  friend bool operator==(const GpuLayout&, const GpuLayout&) = default;
};

// Jobs get no part of such a GPU.
inline bool IsUnderWay(const GpuLayout& layout) {
  return layout.phase == LayoutPhase::kWanted || layout.phase == LayoutPhase::kOrdered;
}

// So long a GPU stays as it was made for a job that has not started, and so long one that could not
// be divided is not tried again.
inline constexpr Duration kLayoutTurn = std::chrono::minutes(5);
inline constexpr Duration kLayoutRetry = std::chrono::minutes(10);
// Whether the GPU is not to be divided otherwise yet.
inline bool IsInForce(const GpuLayout& layout, Time now) {
  return IsUnderWay(layout) ||
         now < layout.since + (layout.phase == LayoutPhase::kMade ? kLayoutTurn : kLayoutRetry);
}

// Divide a GPU of this node.
struct LayoutOrder {
  std::string cluster;
  NodeId node;
  Epoch epoch;
  std::uint64_t number = 0;
  std::string gpu;  // as in GpuLayout, like the next
  std::vector<MigInstance> instances;
  static constexpr auto Fields(auto list) {
    return list(Field{"cluster", &LayoutOrder::cluster}, Field{"node", &LayoutOrder::node},
                Field{"epoch", &LayoutOrder::epoch}, Field{"number", &LayoutOrder::number},
                Field{"gpu", &LayoutOrder::gpu}, Field{"instances", &LayoutOrder::instances});
  }
  friend bool operator==(const LayoutOrder&, const LayoutOrder&) = default;
};

// What became of the last of these orders.
struct LayoutReport {
  std::uint64_t number = 0;  // 0: there was none
  std::string text;          // why it failed; empty: it did not
  static constexpr auto Fields(auto list) {
    return list(Field{"number", &LayoutReport::number}, Field{"text", &LayoutReport::text});
  }
  friend bool operator==(const LayoutReport&, const LayoutReport&) = default;
};

// "7 x 1g.10gb", "1 x 3g.40gb and 4 x 1g.10gb"; "one whole GPU" of none.
std::string InstancesText(const std::vector<MigInstance>& instances);
// "GPU 0 of node n1 is being divided into 7 x 1g.10gb for job 5".
std::string LayoutText(const std::string& node, const GpuLayout& layout);
// All of a node's that are not made, with semicolons.
std::string LayoutsText(const std::string& node, const std::vector<GpuLayout>& layouts);

}  // namespace muster
