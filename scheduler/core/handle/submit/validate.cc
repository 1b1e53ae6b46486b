#include "scheduler/core/handle/submit/validate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/core/handle/submit/container_job.h"
#include "scheduler/core/handle/submit/criu_job.h"
#include "scheduler/core/handle/submit/node_data_job.h"
#include "scheduler/core/handle/submit/terms.h"
#include "scheduler/core/place/layout_check.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/policy/kill_grace.h"
#include "scheduler/core/state/tables/alternatives.h"
#include "scheduler/model/job/array.h"
#include "scheduler/model/job/order_limits.h"
#include "scheduler/model/value/index_set.h"
#include "scheduler/model/value/job_text.h"
#include "scheduler/model/value/wire_size.h"

namespace muster::core {
namespace {

constexpr std::size_t kCommentBytesMax = 4096;
constexpr std::uint32_t kCpusPerTaskMax = Bits::kLimit;
constexpr std::uint32_t kGpusMax = 1U << 16;
constexpr std::size_t kAlternativesMax = 16;
constexpr std::size_t kArrayRangesMax = 10'000;
constexpr std::uint32_t kSignalMax = 64;
constexpr std::int32_t kNiceMax = 2'147'483'645;  // Slurm's bounds
constexpr Time kTimeMax{std::chrono::hours(24) * 365 * 300};

absl::Status CheckAtMost(const char* option, std::uint32_t value, std::uint32_t limit) {
  if (value > limit) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": ", value, " is more than the limit of ", limit));
  }
  return absl::OkStatus();
}

// -N and -n and --ntasks-per-node say each other.
absl::Status FillTasks(ResourceRequest& request) {
  const bool nodes_said = request.min_nodes > 0 || request.max_nodes > 0;
  if (request.max_nodes > 0 && request.max_nodes < request.min_nodes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--nodes: ", request.min_nodes, "-", request.max_nodes, " runs backwards; write MIN-MAX"));
  }
  request.min_nodes = std::max(request.min_nodes, 1U);
  if (request.tasks == 0) {
    request.tasks = request.min_nodes * TasksOnEach(request);
    request.max_nodes = request.max_nodes == 0 ? request.min_nodes : request.max_nodes;
    request.as_wide_as_fits = request.max_nodes > request.min_nodes && request.gpus.count == 0;
  } else if (request.max_nodes == 0) {
    request.max_nodes = nodes_said ? request.min_nodes : request.tasks;
  }
  if (request.tasks < request.min_nodes) {
    return absl::InvalidArgumentError(absl::StrCat("--ntasks: ", request.tasks, " for ",
                                                   request.min_nodes,
                                                   " nodes; every node needs a task"));
  }
  if (request.as_wide_as_fits) {
    return absl::OkStatus();
  }
  if (request.tasks > std::uint64_t{request.max_nodes} * kRanksPerNodeMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--ntasks: ", request.tasks, " tasks on ", request.max_nodes,
        request.max_nodes == 1 ? " node" : " nodes", "; a node runs at most ", kRanksPerNodeMax));
  }
  request.max_nodes = std::min(request.max_nodes, request.tasks);
  if (request.tasks_per_node > 0) {
    const std::uint32_t needed =
        (request.tasks + request.tasks_per_node - 1) / request.tasks_per_node;
    if (nodes_said && needed > request.max_nodes) {
      return absl::InvalidArgumentError(
          absl::StrCat("--ntasks-per-node: ", request.tasks, " tasks at ", request.tasks_per_node,
                       " a node need ", needed, " nodes; --nodes allows ", request.max_nodes));
    }
    request.min_nodes = std::max(request.min_nodes, needed);
    request.max_nodes = std::max(request.max_nodes, request.min_nodes);
  }
  return absl::OkStatus();
}

// Unless it says how many nodes, they are as many segments as the tasks need.
void BeginSegment(ResourceRequest& request) {
  if (IsInSegments(request) && request.min_nodes == 0) {
    request.min_nodes = request.segment;
    request.max_nodes = request.max_nodes == 0 ? request.tasks : request.max_nodes;
  }
}

// Checks that the nodes are one or more whole segments.
absl::Status CheckSegment(ResourceRequest& request) {
  const std::uint32_t segment = request.segment;
  if (!IsInSegments(request)) {
    return absl::OkStatus();
  }
  if (request.min_nodes % segment != 0) {
    return absl::InvalidArgumentError(absl::StrCat("--segment: ", segment, " does not divide the ",
                                                   request.min_nodes, " nodes of the job"));
  }
  if (!request.constraint.counts.empty() ||
      (!request.nodelist.empty() && request.nodelist.size() < request.min_nodes)) {
    return absl::InvalidArgumentError(
        "--segment: with --nodelist or counts in --constraint, name all nodes or none");
  }
  request.max_nodes -= request.max_nodes % segment;
  return absl::OkStatus();
}

absl::Status CheckShare(ResourceRequest& request) {
  if (request.gpu_share.zero()) {
    return absl::OkStatus();
  }
  if (request.gpu_share > kWholeGpu) {
    return absl::InvalidArgumentError("--gpu-share: more than 1, which is a whole GPU");
  }
  if (request.gpus_per_task.count > 1 || request.gpus_per_node.count > 1) {
    return absl::InvalidArgumentError(
        "--gpu-share: a share is of one GPU: ask for one a task or one a node");
  }
  if (request.exclusive) {
    return absl::InvalidArgumentError(
        "--gpu-share: --exclusive takes whole nodes; leave one of them out");
  }
  if (request.overcommit && request.gpus_per_task.count > 0) {
    return absl::InvalidArgumentError(
        "--gpu-share: with --overcommit one share serves all tasks of a node; say "
        "--gpus-per-node=1");
  }
  if (request.gpu_share == kWholeGpu) {
    request.gpu_share = GpuShare();
  }
  return absl::OkStatus();
}

absl::Status CheckArray(const ArraySpec& array, const SchedulerConfig& config) {
  if (array.ranges.size() > kArrayRangesMax) {
    return absl::InvalidArgumentError(absl::StrCat("--array: ", array.ranges.size(),
                                                   " ranges; at most ", kArrayRangesMax,
                                                   " are allowed; write FIRST-LAST:STEP"));
  }
  std::uint64_t count = 0;
  for (const ArrayRange& range : array.ranges) {
    if (range.step == 0 || range.first > range.last) {
      return absl::InvalidArgumentError(
          absl::StrCat("--array: ", range.first, "-", range.last, ":", range.step,
                       " is empty; write FIRST-LAST:STEP with FIRST <= LAST and STEP >= 1"));
    }
    count += RangeCount(range);
    if (count > config.array_elements_max) {
      return absl::InvalidArgumentError(
          absl::StrCat("--array: more than ", config.array_elements_max, " elements"));
    }
  }
  if (count == 0) {
    return absl::InvalidArgumentError("--array: names no element");
  }
  if (array.ranges.size() == 1) {
    return absl::OkStatus();
  }
  std::vector<std::uint32_t> indices;
  indices.reserve(count);
  ForEachElement(array, [&](std::uint32_t index) { indices.push_back(index); });
  std::sort(indices.begin(), indices.end());
  const auto twice = std::adjacent_find(indices.begin(), indices.end());
  if (twice != indices.end()) {
    return absl::InvalidArgumentError(absl::StrCat("--array: names ", *twice, " twice"));
  }
  return absl::OkStatus();
}

absl::Status CheckGres(const GresList& list) {
  constexpr std::size_t kKindsMax = 16;
  if (list.size() > kKindsMax) {
    return absl::InvalidArgumentError(absl::StrCat("--gres: more than ", kKindsMax, " kinds"));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!IsGresName(list[i].name) || list[i].count == 0 || list[i].count > UINT32_MAX ||
        (i > 0 && list[i].name <= list[i - 1].name)) {
      return absl::InvalidArgumentError("--gres: is not a sorted list of NAME:COUNT");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(const ResourceRequest& request, const SchedulerConfig& config) {
  RETURN_IF_ERROR(CheckGres(request.gres));
  RETURN_IF_ERROR(CheckAtMost("--ntasks", request.tasks, config.tasks_max));
  RETURN_IF_ERROR(CheckAtMost("--nodes", request.min_nodes, config.nodes_max));
  RETURN_IF_ERROR(CheckAtMost("--segment", request.segment, config.nodes_max));
  RETURN_IF_ERROR(CheckAtMost("--ntasks-per-node", request.tasks_per_node,
                              std::min(config.tasks_max, kRanksPerNodeMax)));
  RETURN_IF_ERROR(CheckAtMost("--cpus-per-task", request.cpus_per_task, kCpusPerTaskMax));
  RETURN_IF_ERROR(CheckAtMost("--gpus", request.gpus.count, kGpusMax));
  RETURN_IF_ERROR(CheckAtMost("--gpus-per-node", request.gpus_per_node.count, kGpusMax));
  RETURN_IF_ERROR(CheckAtMost("--gpus-per-task", request.gpus_per_task.count, kGpusMax));
  RETURN_IF_ERROR(CheckAtMost("--mincpus", request.min_cpus, kCpusPerTaskMax));
  RETURN_IF_ERROR(CheckAtMost("--sockets-per-node", request.sockets_per_node, kCpusPerTaskMax));
  constexpr Bytes kMemoryMax{std::uint64_t{1} << 50};
  if (request.memory_per_node > kMemoryMax || request.memory_per_cpu > kMemoryMax) {
    return absl::InvalidArgumentError("--mem: more than 1 PiB");
  }
  if (request.memory_per_cpu.value() > kMemoryMax.value() / std::max(request.cpus_per_task, 1U)) {
    return absl::InvalidArgumentError("--mem-per-cpu: more than 1 PiB a task");
  }
  if (!request.memory_per_node.zero() && !request.memory_per_cpu.zero()) {
    return absl::InvalidArgumentError("--mem: say --mem or --mem-per-cpu, not both");
  }
  const std::uint64_t tasks =
      std::uint64_t{std::max(request.min_nodes, 1U)} * std::max(request.tasks_per_node, 1U);
  if (tasks > config.tasks_max) {
    return absl::InvalidArgumentError(absl::StrCat("--ntasks-per-node: ", tasks,
                                                   " tasks in all is more than the limit of ",
                                                   config.tasks_max));
  }
  return absl::OkStatus();
}

absl::Status NormaliseRequest(ResourceRequest& request, const SchedulerConfig& config) {
  RETURN_IF_ERROR(FillNamedNodes(request));
  request.cpus_per_task = std::max(request.cpus_per_task, 1U);
  RETURN_IF_ERROR(BeginLayout(request));
  RETURN_IF_ERROR(CheckSizes(request, config));
  BeginSegment(request);
  RETURN_IF_ERROR(FillTasks(request));
  RETURN_IF_ERROR(CheckSegment(request));
  RETURN_IF_ERROR(CompleteLayout(request));
  if (request.as_wide_as_fits) {
    request.max_nodes = std::min(request.max_nodes, config.nodes_max);
    RETURN_IF_ERROR(
        CheckAtMost("--nodes", request.max_nodes * TasksOnEach(request), config.tasks_max));
  }
  RETURN_IF_ERROR(FillGpus(request));
  RETURN_IF_ERROR(CheckGpuBind(request));
  return CheckShare(request);
}

// The first alternative is what the job asks anyway; those that say no time limit have its.
absl::Status NormaliseAlternatives(JobSpec& spec, const SchedulerConfig& config) {
  if (spec.alternatives.empty()) {
    return absl::OkStatus();
  }
  if (spec.alternatives.size() > kAlternativesMax) {
    return absl::InvalidArgumentError(absl::StrCat("--alt: ", spec.alternatives.size(),
                                                   " alternatives; at most ", kAlternativesMax,
                                                   " are allowed"));
  }
  for (Alternative& alternative : spec.alternatives) {
    RETURN_IF_ERROR(NormaliseRequest(alternative.request, config));
    if (alternative.time_limit.count() < 0 || alternative.time_limit > kTimeLimitMax) {
      return absl::InvalidArgumentError("--alt: --time: is negative or more than 36525 days");
    }
    // A limit that was lowered since lowers those that --time-min made of it.
    const bool shorter = spec.time_min > Duration(0) && spec.time_limit < alternative.time_limit;
    if (alternative.time_limit.count() == 0 || shorter) {
      alternative.time_limit = spec.time_limit;
    }
  }
  spec.alternatives.front() = {spec.request, spec.time_limit};
  return absl::OkStatus();
}

// --requeue takes the usual code, unless another is said.
absl::Status FillRequeue(JobSpec& spec) {
  RETURN_IF_ERROR(CheckAtMost("--requeue-exit", spec.requeue_exit, kNoRequeueExit));
  if (spec.requeue == Choice::kNo && spec.requeue_exit != 0) {
    return absl::InvalidArgumentError("--requeue-exit: --no-requeue excludes it; leave one out");
  }
  if (spec.requeue == Choice::kYes && spec.requeue_exit == 0) {
    spec.requeue_exit = kRequeueExit;
  }
  if (spec.requeue_exit == kNoRequeueExit && spec.requeue != Choice::kYes) {
    spec.requeue_exit = 0;
  }
  return absl::OkStatus();
}

// The option, if any, that no elastic job may have.
const char* NotForElastic(const JobSpec& spec) {
  return !spec.alternatives.empty()  ? "--alt"
         : spec.request.switches > 0 ? "--switches"
         : spec.request.segment > 0  ? "--segment"
         : spec.no_kill              ? "--no-kill"
                                     : nullptr;
}

// What an elastic job may not be. One that can have one size only is as any other.
absl::Status CheckElastic(JobSpec& spec) {
  if (!spec.elastic) {
    if (spec.replace_wait != Duration(0)) {
      return absl::InvalidArgumentError("--replace-wait: only for --elastic jobs; add --elastic");
    }
    return absl::OkStatus();
  }
  const ResourceRequest& request = spec.request;
  const auto refuse = [](const char* option, const char* why) {
    return absl::InvalidArgumentError(absl::StrCat("--elastic: ", option, ": ", why));
  };
  if (spec.kind != JobKind::kBatch) {
    return refuse("run", "only batch scripts run again; submit it");
  }
  if (spec.requeue == Choice::kNo) {
    return refuse("--no-requeue", "each change of its size is another run; leave it out");
  }
  if (request.max_nodes > request.min_nodes && !request.as_wide_as_fits) {
    return refuse("--ntasks or --gpus",
                  "says one size; say --ntasks-per-node and --gpus-per-node with --nodes=MIN-MAX");
  }
  if (const char* const option = NotForElastic(spec)) {
    return refuse(option, "excludes it; leave one out");
  }
  if (spec.replace_wait < Duration(0) || spec.replace_wait > kTimeLimitMax) {
    return absl::InvalidArgumentError("--replace-wait: is negative or more than 36525 days");
  }
  spec.requeue = Choice::kYes;
  spec.elastic = request.as_wide_as_fits;
  spec.replace_wait = spec.elastic ? spec.replace_wait : Duration(0);
  return absl::OkStatus();
}

absl::Status CheckTimes(const JobSpec& spec) {
  if (spec.time_limit.count() < 0 || spec.kill_grace.count() < 0) {
    return absl::InvalidArgumentError("--time: is negative");
  }
  if (spec.progress_timeout.count() < 0 || spec.progress_timeout > kTimeLimitMax) {
    return absl::InvalidArgumentError("--progress-timeout: is negative or more than 36525 days");
  }
  if (spec.request.switches_wait.count() < 0 || spec.request.switches_wait > kTimeLimitMax) {
    return absl::InvalidArgumentError(
        "--switches: waits less than no time or more than 36525 days");
  }
  if (spec.time_limit > kTimeLimitMax || spec.kill_grace > kTimeLimitMax) {
    return absl::InvalidArgumentError("--time: more than 36525 days; leave it out for no limit");
  }
  if (spec.warning.before.count() < 0 || spec.warning.before > kTimeLimitMax) {
    return absl::InvalidArgumentError("--signal: is negative or more than 36525 days before");
  }
  RETURN_IF_ERROR(CheckAtMost("--signal", spec.warning.signal, kSignalMax));
  if (spec.begin < kNoTime || spec.begin > kTimeMax) {
    return absl::InvalidArgumentError("--begin: is not between the years 1970 and 2270");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<JobSpec> Normalise(JobSpec spec, const SchedulerConfig& config) {
  RETURN_IF_ERROR(CheckJobText("--job-name", spec.name, kJobNameBytesMax));
  RETURN_IF_ERROR(CheckJobText("--account", spec.account, kJobNameBytesMax));
  RETURN_IF_ERROR(CheckJobText("--comment", spec.comment, kCommentBytesMax));
  RETURN_IF_ERROR(CheckTerms(spec, config));
  RETURN_IF_ERROR(NormaliseRequest(spec.request, config));
  RETURN_IF_ERROR(CheckTimes(spec));
  if (spec.nice < -kNiceMax || spec.nice > kNiceMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("--nice: is not between -", kNiceMax, " and ", kNiceMax));
  }
  RETURN_IF_ERROR(CheckElastic(spec));
  RETURN_IF_ERROR(FillRequeue(spec));
  if (spec.time_limit.count() == 0) {
    spec.time_limit = config.default_time_limit;
  }
  RETURN_IF_ERROR(NormaliseAlternatives(spec, config));
  RETURN_IF_ERROR(FillCriu(spec));
  RETURN_IF_ERROR(FillContainer(spec));
  RETURN_IF_ERROR(FillNodeData(spec));
  spec.kill_grace =
      WithinGrace(spec.kill_grace.count() == 0 ? config.kill_grace : spec.kill_grace, config);
  if (spec.array.has_value()) {
    if (spec.kind != JobKind::kBatch) {
      return absl::InvalidArgumentError("--array: only for batch scripts");
    }
    RETURN_IF_ERROR(CheckArray(*spec.array, config));
  }
  if (const std::size_t bytes = WireBytes(spec); bytes > kRequestBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("the request is ", bytes, " bytes long; at most ", kRequestBytesMax,
                     " are allowed: shorten its lists of nodes or alternatives"));
  }
  return spec;
}

absl::Status CheckGrace(const JobSpec& spec, const SchedulerConfig& config) {
  if (WithinGrace(spec.kill_grace, config) == spec.kill_grace) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("kill_grace: ", PeriodText(spec.kill_grace), " between SIGTERM and SIGKILL; ",
                   "this cluster gives at most ", PeriodText(config.kill_grace_max),
                   " (policy.kill_grace_max)"));
}

}  // namespace muster::core
