#include "scheduler/core/handle/submit/new_job.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/policy/job_access.h"

namespace muster::core {
namespace {

// The smallest GPU of the kind that has the memory; null: there is none.
const Gpu* SmallestWith(const std::vector<const Machine*>& machines, const GpuRequest& kind,
                        Bytes memory) {
  const Gpu* smallest = nullptr;
  for (const Machine* machine : machines) {
    for (const Gpu& gpu : machine->gpus) {
      if (gpu.memory >= memory && IsOfKind(gpu, kind) &&
          (smallest == nullptr || gpu.memory < smallest->memory)) {
        smallest = &gpu;
      }
    }
  }
  return smallest;
}

// Limits between --time and --time-min that are tried, both included.
constexpr int kLimitSteps = 5;

// The request on nodes that have what is preferred, too.
ResourceRequest Preferring(const ResourceRequest& request, const FeatureExpression& preferred) {
  ResourceRequest both = request;
  std::vector<FeatureToken>& postfix = both.constraint.every.postfix;
  const bool alone = postfix.empty();
  postfix.insert(postfix.end(), preferred.postfix.begin(), preferred.postfix.end());
  if (!alone) {
    postfix.push_back(FeatureToken{FeatureOp::kAnd, ""});
  }
  return both;
}

// From `most` down to `least`, in whole seconds and equal steps.
std::vector<Duration> LimitsBetween(Duration least, Duration most) {
  std::vector<Duration> limits = {most};
  for (int step = 1; step < kLimitSteps && least < most; ++step) {
    const Duration limit =
        std::chrono::ceil<std::chrono::seconds>(most - (most - least) / (kLimitSteps - 1) * step);
    limits.push_back(step + 1 == kLimitSteps ? least : std::max(limit, least));
  }
  return limits;
}

}  // namespace

absl::Status FillGpuShare(const std::vector<const Machine*>& machines, ResourceRequest& request) {
  const Bytes asked = request.gpu_share_memory;
  if (asked.zero()) {
    return absl::OkStatus();
  }
  if (request.gpus.count + request.gpus_per_node.count + request.gpus_per_task.count == 0) {
    request.gpus_per_task.count = 1;
  }
  std::vector<GpuRequest*> kinds;
  for (GpuRequest* kind : {&request.gpus, &request.gpus_per_node, &request.gpus_per_task}) {
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
  request.gpu_share = GpuShare(std::max(part, 1U));
  for (GpuRequest* each : kinds) {
    each->memory = std::max(each->memory, gpu->memory);
  }
  request.gpu_share_memory = Bytes();
  return absl::OkStatus();
}

absl::Status FillGpuShares(const ClusterState& state, JobSpec& spec) {
  std::vector<ResourceRequest*> requests = {&spec.request};
  for (Alternative& alternative : spec.alternatives) {
    requests.push_back(&alternative.request);
  }
  if (std::all_of(requests.begin(), requests.end(), [](const ResourceRequest* request) {
        return request->gpu_share_memory.zero();
      })) {
    return absl::OkStatus();
  }
  std::vector<const Machine*> machines;
  for (const auto& [id, node] : state.nodes()) {
    machines.push_back(node.machine.get());
  }
  for (ResourceRequest* request : requests) {
    RETURN_IF_ERROR(FillGpuShare(machines, *request));
  }
  return absl::OkStatus();
}

absl::Status BeginNew(const Actor& by, const SchedulerConfig& config, JobSpec& spec) {
  if (spec.nice < 0 && !IsOperator(by, config)) {
    return absl::InvalidArgumentError("--nice: only operators raise a priority; use 0 or more");
  }
  spec.request.own_gpus = spec.request.gpus_per_task.count > 0;
  for (Alternative& alternative : spec.alternatives) {
    alternative.request.own_gpus = alternative.request.gpus_per_task.count > 0;
  }
  if (spec.priority > 0 && !IsOperator(by, config)) {
    spec.recorded.push_back(absl::StrCat("priority=", spec.priority));
    spec.priority = 0;
  }
  return absl::OkStatus();
}

void RecordChoices(JobSpec& spec) {
  if (spec.time_min > Duration(0)) {
    spec.recorded.push_back(absl::StrCat("time-min=", PeriodText(spec.time_min)));
    spec.time_min = Duration(0);
  }
  if (!spec.prefer.every.postfix.empty() || !spec.prefer.counts.empty()) {
    spec.recorded.push_back(absl::StrCat("prefer=", ToText(spec.prefer)));
    spec.prefer = Constraint();
  }
}

absl::Status AddChoices(const SchedulerConfig& config, JobSpec& spec) {
  const bool prefers = !spec.prefer.every.postfix.empty() || !spec.prefer.counts.empty();
  const char* const option = prefers ? "--prefer" : "--time-min";
  if (!prefers && spec.time_min == Duration(0)) {
    return absl::OkStatus();
  }
  if (!spec.prefer.counts.empty()) {
    return absl::InvalidArgumentError("--prefer: takes features without counts of nodes");
  }
  if (!spec.alternatives.empty() || spec.elastic) {
    return absl::InvalidArgumentError(absl::StrCat(
        option, ": excludes ", spec.elastic ? "--elastic" : "--alt", "; leave one out"));
  }
  const Duration most =
      spec.time_limit == Duration(0) ? config.default_time_limit : spec.time_limit;
  if (spec.time_min < Duration(0) || spec.time_min > most) {
    return absl::InvalidArgumentError("--time-min: is more than --time; give less");
  }
  const Duration least = spec.time_min == Duration(0) ? most : spec.time_min;
  for (const Duration limit : LimitsBetween(least, most)) {
    if (prefers) {
      spec.alternatives.push_back({Preferring(spec.request, spec.prefer.every), limit});
    }
    spec.alternatives.push_back({spec.request, limit});
  }
  spec.request = spec.alternatives.front().request;
  spec.time_limit = spec.alternatives.front().time_limit;
  return absl::OkStatus();
}

}  // namespace muster::core
