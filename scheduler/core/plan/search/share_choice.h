#pragma once

// Which GPU a job gets a part of, and what that means for jobs that were promised whole ones.
//
// A job that needs one share is put where the jobs that the cluster really sees lose least of what
// is idle (core/place/worth/gpu_packing, over the waiting and the running jobs). A GPU that is in
// use may only be shared longer than its present users need it where that many whole GPUs are still
// free of promises. Thread promise: owned by one cycle. Invariants: (1) no opening that the cycle
// has kept for a job is delayed by a share; (2) the answer depends on the snapshot and the calls
// alone; ties fall to the lighter, then the tighter node, then to the lower GPU.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/core/place/worth/gpu_packing.h"
#include "scheduler/core/plan/availability/availability.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

class ShareChoice {
 public:
  using SnapshotOf = std::function<const NodeSnapshot&(std::uint32_t)>;
  struct Place {
    std::uint32_t node = 0;
    std::uint32_t gpu = 0;
  };

  // REQUIRES: both outlive it.
  ShareChoice(const Snapshot& snapshot, Availability& availability)
      : snapshot_(snapshot), availability_(availability) {}

  // The node as the job may use it: a GPU that it must not share counts as taken. REQUIRES: the
  // job asks for a share.
  [[nodiscard]] NodeSnapshot Visible(const Need& need, std::uint32_t node,
                                     const NodeSnapshot& node_snapshot) const;

  // The best place for a job that needs one share; nothing when it needs several, or there is none.
  std::optional<Place> Choose(const Need& need, const SnapshotOf& snapshot_of);

  // The job starts there. REQUIRES: `snapshot_of` shows the nodes without it.
  void Start(const Need& need, const Opening& opening, const Allocation& allocation,
             const SnapshotOf& snapshot_of);

 private:
  [[nodiscard]] Time LastEnd(std::uint32_t node, std::uint32_t gpu) const;
  const PackingMix& Mix();
  void AddClass(const JobSpec& spec, std::uint64_t count, std::vector<PackingClass>& classes);
  std::uint32_t NumberOf(const Gpu& gpu);
  [[nodiscard]] PackingRoom RoomOf(std::uint32_t model, const NodeSnapshot& node_snapshot) const;

  const Snapshot& snapshot_;
  Availability& availability_;
  std::map<std::pair<std::string, Bytes>, std::uint32_t> models_;  // by name and memory
  std::optional<PackingMix> mix_;
  // When the last user of a GPU that started in this cycle ends, by node and GPU.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Time> started_;
};

}  // namespace muster::core
