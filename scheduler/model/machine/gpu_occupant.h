#pragma once

// A process that uses a GPU of a node and is no process of a job: as long as it does, jobs do not
// get the GPU.
//
// Invariant: `gpu` is a position in Machine::gpus.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/units.h"

namespace muster {

struct GpuOccupant {
  std::uint32_t gpu = 0;
  std::uint32_t pid = 0;
  std::string user;     // its name; the number of one without a name
  std::string program;  // as /proc/PID/comm names it
  Bytes memory;         // of the GPU, when it was first seen there; zero: not known
  static constexpr auto Fields(auto list) {
    return list(Field{"gpu", &GpuOccupant::gpu}, Field{"pid", &GpuOccupant::pid},
                Field{"user", &GpuOccupant::user}, Field{"program", &GpuOccupant::program},
                Field{"memory", &GpuOccupant::memory});
  }
  friend bool operator==(const GpuOccupant&, const GpuOccupant&) = default;
};

// Of one node; by GPU and pid.
using GpuOccupants = std::vector<GpuOccupant>;

// What is believed of one node.
inline constexpr std::size_t kGpuOccupantsMax = 256;

inline bool IsOccupied(const GpuOccupants& occupants, std::size_t gpu) {
  return std::any_of(occupants.begin(), occupants.end(),
                     [gpu](const GpuOccupant& occupant) { return occupant.gpu == gpu; });
}

// "pid 4711 (alice, python, 12 GiB)".
std::string OccupantText(const GpuOccupant& occupant);
// "1 GPU of node n1 is used by pid 4711 (alice, python, 12 GiB) outside Muster"; empty: none is.
std::string OccupiedText(const std::string& node, const GpuOccupants& occupants);

}  // namespace muster
