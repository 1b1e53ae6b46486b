#pragma once

// A node as it would be, were one of its GPUs divided otherwise.
//
// Pure. Invariants: (1) GPUs that jobs use keep their positions; (2) nothing but the machine's GPUs
// and what is taken of them changes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/gpu_occupant.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// The positions of the GPU, or of its instances.
std::vector<std::uint32_t> PositionsOf(const Machine& machine, const std::string& gpu);
// Whether nobody uses a part of it: no job, no other process.
bool IsGpuIdle(const Machine& machine, const NodeUse& taken, const GpuOccupants& occupants,
               const std::string& gpu);
// Whether with that many instances, or 0: whole, the GPUs that are in use can keep their positions.
bool CanKeepPositions(const Machine& machine, const NodeUse& taken, const std::string& gpu,
                      std::size_t instances);
// Null where MIG cannot divide it, or Muster may not.
const MigGpu* FindMig(const Machine& machine, const std::string& gpu);
// Whether a layout of it that is under way takes the GPU at the position from jobs.
bool IsUnderWay(const std::vector<GpuLayout>& layouts, const Machine& machine, std::uint32_t gpu);

// The profile of the GPU's instances that the request names, the smallest of several; null: none.
const MigProfile* ProfileFor(const MigGpu& gpu, const GpuRequest& kind);
// Whether the whole GPU will do.
bool IsWholeOfKind(const MigGpu& gpu, const GpuRequest& kind);
// Whether the GPU is so now: as many instances of each profile, or whole.
bool IsLaidOut(const Machine& machine, const MigGpu& gpu,
               const std::vector<MigInstance>& instances);

// REQUIRES: it is idle, or what uses it is to be taken for gone.
NodeSnapshot Divided(NodeSnapshot node, const MigGpu& gpu,
                     const std::vector<MigInstance>& instances);
// The node without the jobs that use the GPU.
NodeSnapshot WithoutUsersOf(NodeSnapshot node, const std::string& gpu);
// The node with all of its GPUs, were they idle, as the request would have them; as it is where
// that can be no better.
NodeSnapshot AsAskedFor(const NodeSnapshot& node, const ResourceRequest& request);

}  // namespace muster::core
