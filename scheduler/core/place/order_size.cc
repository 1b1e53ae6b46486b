#include "scheduler/core/place/order_size.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/model/job/order_limits.h"
#include "scheduler/model/value/wire_size.h"

namespace muster::core {
namespace {

// What WireBytes makes of a rank on one CPU.
constexpr std::size_t kRankBytesMin = 16;

// So that nobody walks a million ranks only to find that they are too many.
bool HasRoomForRanks(const Allocation& allocation) {
  std::size_t ranks = 0;
  for (const NodeAllocation& part : allocation.nodes) {
    if (part.ranks.size() > kRanksPerNodeMax) {
      return false;
    }
    ranks += part.ranks.size();
  }
  return ranks <= kPlacementBytesMax / kRankBytesMin;
}

}  // namespace

bool OrdersFit(const JobTable& jobs, std::span<const PlannedStart> together) {
  std::size_t extents = 0;
  std::size_t largest = 0;
  for (const PlannedStart& start : together) {
    if (!HasRoomForRanks(start.allocation)) {
      return false;
    }
    const std::size_t own = WireBytes(start.allocation);
    largest = std::max(largest, own);
    if (together.size() > 1) {
      extents += own + WireBytes(jobs.Find(start.job)->spec->request);
    }
  }
  return largest + extents <= kPlacementBytesMax;
}

absl::Status CheckStepPlacement(const Allocation& placement) {
  if (HasRoomForRanks(placement) && WireBytes(placement) <= kPlacementBytesMax) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the step has more tasks than an order to one node can hold (", kPlacementBytesMax / kMiB,
      " MiB, ", kRanksPerNodeMax, " tasks on one node): ask for fewer, or start several steps"));
}

}  // namespace muster::core
