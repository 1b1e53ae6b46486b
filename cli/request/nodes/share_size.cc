#include "cli/request/nodes/share_size.h"

#include <algorithm>
#include <cstdint>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/place/request.h"

namespace muster::cli {
namespace {

// The smallest GPU of the kind that has the memory; null: there is none.
const Gpu* SmallestWith(const std::vector<const Machine*>& machines, const GpuRequest& kind,
                        Bytes memory) {
  const Gpu* smallest = nullptr;
  for (const Machine* machine : machines) {
    for (const Gpu& gpu : machine->gpus) {
      if (gpu.memory >= memory && core::IsOfKind(gpu, kind) &&
          (smallest == nullptr || gpu.memory < smallest->memory)) {
        smallest = &gpu;
      }
    }
  }
  return smallest;
}

}  // namespace

absl::Status FillGpuShare(const std::vector<const Machine*>& machines, JobRequest* request) {
  const Bytes asked = request->gpu_share_memory;
  if (asked.zero()) {
    return absl::OkStatus();
  }
  ResourceRequest& asks = request->spec.request;
  if (asks.gpus.count + asks.gpus_per_node.count + asks.gpus_per_task.count == 0) {
    asks.gpus_per_task.count = 1;
  }
  std::vector<GpuRequest*> kinds;
  for (GpuRequest* kind : {&asks.gpus, &asks.gpus_per_node, &asks.gpus_per_task}) {
    if (kind->count > 0) {
      kinds.push_back(kind);
    }
  }
  const GpuRequest& kind = *kinds.front();
  const Gpu* gpu = SmallestWith(machines, kind, asked);
  if (gpu == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--gpu-share: no ", kind.type.empty() ? "GPU" : Quote(kind.type), " of this cluster has ",
        SizeText(asked.value()), " of memory; muster topo shows what there is"));
  }
  const absl::uint128 whole = gpu->memory.value();
  const auto part = static_cast<std::uint32_t>(
      (absl::uint128(asked.value()) * kWholeGpu.value() + whole - 1) / whole);
  asks.gpu_share = GpuShare(std::max(part, 1U));
  for (GpuRequest* each : kinds) {
    each->memory = std::max(each->memory, gpu->memory);
  }
  request->gpu_share_memory = Bytes();
  return absl::OkStatus();
}

absl::Status FillGpuShares(Connection& connection, const std::vector<JobRequest*>& requests) {
  if (std::all_of(requests.begin(), requests.end(),
                  [](const JobRequest* request) { return request->gpu_share_memory.zero(); })) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const NodeList nodes, connection.Call(ListNodes{{}, /*with_machine=*/true}));
  std::vector<const Machine*> machines;
  for (const NodeView& node : nodes.nodes) {
    machines.push_back(&node.machine);
  }
  for (JobRequest* request : requests) {
    RETURN_IF_ERROR(FillGpuShare(machines, request));
  }
  return absl::OkStatus();
}

absl::Status FillGpuShare(Connection& connection, JobRequest* request) {
  return FillGpuShares(connection, {request});
}

}  // namespace muster::cli
